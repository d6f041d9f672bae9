"""The parts of the bench that decide what is fair."""

from __future__ import annotations

import importlib.util
import sys
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench"


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_html_of_a_peer_becomes_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = load("worker", monkeypatch)
    html = "<html><head><title>no</title></head><p>on<b>e</b></p><p>two &amp; 3</p><!-- no --><script>no</script>"
    assert worker.words_of_html(html).split() == ["one", "two", "&", "3"]
    assert worker.words_of_html(None) == ""


def test_markdown_of_a_peer_loses_addresses_and_frontmatter(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = load("worker", monkeypatch)
    markdown = "---\ntitle: no\n---\nsee [one](https://example.com/no) ![no](no.png)\n\n---\n\ntwo"
    assert worker.words_of_markdown(markdown).split() == ["see", "one", "---", "two"]


def test_messages_survive_the_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = load("worker", monkeypatch)
    pipe = BytesIO()
    worker.write_message(pipe, {"text": "ä\x00\ud800", "seconds": 0.5})
    pipe.seek(0)
    assert worker.read_message(pipe) == {"text": "ä\x00\ud800", "seconds": 0.5}
    assert worker.read_message(pipe) is None


def test_a_peer_that_raises_is_recorded_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = load("worker", monkeypatch)

    def broken(raw: bytes, text: str, url: str) -> str:
        raise KeyError(url)

    assert worker.answer(broken, str, b"", "", "")["error"] == "KeyError"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("é".encode(), "é"),
        ('<meta charset="iso-8859-2">ł'.encode("iso-8859-2"), '<meta charset="iso-8859-2">ł'),
        ("é".encode("cp1252"), "é"),
        (b"<meta charset=nonsense>\xe9", "<meta charset=nonsense>é"),
    ],
)
def test_pages_are_decoded_once_for_the_peers_that_want_text(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, text: str
) -> None:
    assert load("run", monkeypatch).decode(raw) == text


def test_determinism_names_what_differs_raises_or_dawdles(monkeypatch: pytest.MonkeyPatch) -> None:
    fine = {"digest": "1", "error": "", "seconds": 0.1, "slow": False}
    slow = fine | {"slow": True}
    first = {"a": fine, "b": fine, "c": fine | {"error": "KeyError: x"}, "d": slow, "e": slow}
    second = first | {"b": fine | {"digest": "2"}, "e": fine}
    faults = load("determinism", monkeypatch).compare([first, second])
    assert [fault.split(":")[0] for fault in faults] == ["b", "c", "d"]


def test_ratios_say_how_much_faster_and_what_is_ours_beyond_the_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    run = load("run", monkeypatch)
    means = {"pagekeep": 0.010, "bare parse": 0.002, "readability-lxml": 0.045}
    assert run.ratios(means) == [
        "Faster by mean: 4.5 times readability-lxml.",
        "Beyond the parse: 8.00 ms a page, 4.0 times the parse itself.",
    ]
    assert run.ratios({"readability-lxml": 0.045}) == []


def test_pages_of_the_curve_are_of_the_size_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = load("curve", monkeypatch)
    for make in (curve.prose, curve.cards, curve.rows, curve.posts):
        assert 50_000 <= len(curve.page(make, 50_000)) < 51_000
