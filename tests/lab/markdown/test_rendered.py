"""What a reader of Markdown sees."""

from __future__ import annotations

from pagekeep_lab.markdown_cases import raw_html, read_tree, render_tree

TEXT = """# Tea

Water[^1] boils at $T = 100$.

```python
def brew():
    return 1
```

| Leaf | Minutes |
| --- | --- |
| Green | 2 |

- [ ] buy

[^1]: Soft *water*.

    And more.
"""


def test_everything_that_is_compared_is_read() -> None:
    seen = read_tree(render_tree(TEXT))
    assert seen.headings == ((1, "Tea"),)
    assert seen.code == (("python", "def brew():\n    return 1"),)
    assert seen.tables == ((("Leaf", "Minutes"), ("Green", "2")),)
    assert seen.marks == ("1",)
    assert seen.notes == ("Soft water.",)
    assert seen.math == ("T = 100",)
    assert "boils at" in seen.text
    assert "↩" not in seen.text


def test_only_markup_of_the_text_itself_is_raw() -> None:
    assert raw_html(TEXT) == []
    assert raw_html("a <b>c</b>") == ["<b>", "</b>"]


def test_a_line_from_a_formula_to_a_digit_begins_with_the_formula() -> None:
    assert read_tree(render_tree("$a$ and 1")).math == ("a",)
    assert read_tree(render_tree("It costs 5$ or 6$")).math == ()
