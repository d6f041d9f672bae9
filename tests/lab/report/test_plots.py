from __future__ import annotations

from pagekeep import dom
from pagekeep_lab import evaluation_report


def numbers(svg: str, css: str, name: str) -> list[float]:
    return [float(found.attr(name) or "nan") for found in dom.select(dom.parse_fragment(svg), css)]


def test_bars_are_as_long_as_their_values() -> None:
    lengths = numbers(evaluation_report.draw_bars([("all", 1.0), ("forum", 0.5), ("none", 0.0)]), "rect.bar", "width")
    assert lengths[1] == lengths[0] / 2
    assert lengths[2] == 0


def test_names_are_escaped() -> None:
    assert "<b>" not in evaluation_report.draw_bars([("<b>", 0.5)])


def test_one_belongs_to_the_last_tenth() -> None:
    assert evaluation_report.count_bins([0.0, 0.05, 0.1, 0.95, 1.0]) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]


def test_histogram_of_nothing_is_flat() -> None:
    assert set(numbers(evaluation_report.draw_histogram([]), "rect.bar", "height")) == {0.0}


def test_trend_rises_when_the_value_does() -> None:
    heights = numbers(evaluation_report.draw_trend([("one", 0.5), ("two", 0.6), ("three", 0.55)]), "circle", "cy")
    assert heights[1] < heights[2] < heights[0]


def test_trend_of_equal_values_is_level() -> None:
    assert len(set(numbers(evaluation_report.draw_trend([("one", 0.5), ("two", 0.5)]), "circle", "cy"))) == 1
