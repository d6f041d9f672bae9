"""What `import pagekeep` promises."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pagekeep
from pagekeep import errors


def python(script: str) -> str:
    """What the script prints in its own interpreter."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_surface_is_exactly_this() -> None:
    tree = {name for name, item in vars(errors).items() if inspect.isclass(item) and item.__module__ == errors.__name__}
    functions = {"extract", "fetch_html", "fetch_html_async", "fetch_and_extract", "fetch_and_extract_async"}
    values = {"Fetched", "Metadata", "Options", "Page", "Quality"}
    assert set(pagekeep.__all__) == {"__version__"} | functions | values | tree


def test_all_is_sorted_and_every_name_is_there() -> None:
    assert pagekeep.__all__ == sorted(pagekeep.__all__)
    assert all(hasattr(pagekeep, name) for name in pagekeep.__all__)


def test_version_is_a_release_number() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", pagekeep.__version__)


def test_extract_has_the_documented_signature() -> None:
    assert str(inspect.signature(pagekeep.extract)).startswith(
        "(html: 'str | bytes', url: 'str | None' = None, *, rules: 'Rulebook | None' = None, options: 'Options | None' = None) -> 'Page'"
    )


def test_the_function_and_the_room_have_different_names() -> None:
    script = "import pagekeep.extraction.output.sanitise; from pagekeep import extract; print(type(extract).__name__)"
    assert python(script) == "function"


def test_function_gives_what_the_pipeline_gives_and_the_document() -> None:
    from pagekeep import pipeline
    from pagekeep.markdown import write_document

    html, url = "<title>Kelp</title><article><p>Kelp grows by the hour.</p></article>", "https://kelp.example/"
    options = pagekeep.Options(saved_at="2025-01-02T03:04:05Z")
    page = pipeline.extract(html, url, options=options)
    assert page.document == ""
    document = write_document(page, saved_at="2025-01-02T03:04:05Z")
    assert pagekeep.extract(html, url, options=options) == replace(page, document=document)


def test_function_and_pipeline_use_the_shipped_rules_by_default() -> None:
    from pagekeep import pipeline, rules

    html = f"<article>{'<p>Kelp grows by the hour.</p>' * 40}<div class=swiper-slide-duplicate>Kelp</div></article>"
    for extract in (pagekeep.extract, pipeline.extract):
        assert [match.id for match in extract(html).trace.rules] == ["swiper-carousel"]
        assert extract(html, rules=rules.Rulebook()).trace.rules == ()


def test_import_loads_no_dependency() -> None:
    script = "import sys, pagekeep; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = set(python(script).split())
    assert "pagekeep" in loaded
    assert not loaded & {"turbohtml", "nh3", "yaml", "click", "rich", "dataclasses"}


def test_readme_shows_what_the_tool_really_prints() -> None:
    script = Path(__file__).parents[1] / "scripts" / "update_readme.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, f"run scripts/update_readme.py and look at the diff\n{checked.stderr}"


def test_the_table_of_dialects_is_that_of_the_routes() -> None:
    script = Path(__file__).parents[1] / "scripts" / "update_dialects.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, f"run scripts/update_dialects.py\n{checked.stderr}"


def test_the_settings_reference_is_what_the_table_says() -> None:
    script = Path(__file__).parents[1] / "scripts" / "update_settings.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, f"run scripts/update_settings.py\n{checked.stderr}"


def test_the_reference_of_rules_is_what_the_table_says() -> None:
    script = Path(__file__).parents[1] / "scripts" / "update_rules.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, f"run scripts/update_rules.py\n{checked.stderr}"


def test_the_chart_shows_the_results_of_the_bench() -> None:
    script = Path(__file__).parents[1] / "scripts" / "draw_chart.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, f"run scripts/draw_chart.py\n{checked.stderr}"


def test_the_list_of_steps_is_what_the_code_says() -> None:
    script = Path(__file__).parents[1] / "scripts" / "update_steps.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, f"run scripts/update_steps.py\n{checked.stderr}"
