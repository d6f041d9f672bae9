"""Word-by-word differences: what changed, in readable pieces, with bounded work."""

from __future__ import annotations

import random

from pagekeep.present.diff import Block, Part, WordDiff, compare_words, split_blocks


def words(diff: WordDiff, operation: str) -> list[str]:
    return [part.text.strip() for block in diff.blocks for part in block.parts if part.operation == operation]


def old_and_new(diff: WordDiff) -> tuple[str, str]:
    """Put both texts together again from the parts."""
    sides = []
    for mine in ("removed", "added"):
        blocks = ["".join(p.text for p in block.parts if p.operation in ("same", mine)) for block in diff.blocks]
        sides.append("\n\n".join(filter(None, blocks)))
    return sides[0], sides[1]


def test_equal_texts_have_no_difference() -> None:
    assert compare_words("One.\n\nTwo.", "One.\n\nTwo.") == WordDiff((), 0, 0)


def test_a_changed_word_is_shown_within_its_paragraph() -> None:
    diff = compare_words(
        "The ferry leaves at nine from the old pier, every day.",
        "The ferry leaves at ten from the old pier, every day.",
    )
    (block,) = diff.blocks
    assert block.kind == "changed"
    assert block.parts == (
        Part("same", "The ferry leaves at "),
        Part("removed", "nine"),
        Part("added", "ten"),
        Part("same", " from the old pier, every day."),
    )
    assert (diff.added, diff.removed, diff.excerpt) == (1, 1, "ten")


def test_phrases_stay_whole() -> None:
    diff = compare_words(
        "In the morning the red fox ran over the hill and away.",
        "In the morning a grey fox hid over the hill and away.",
    )
    assert words(diff, "removed") == ["the red fox ran"]
    assert words(diff, "added") == ["a grey fox hid"]


def test_added_and_removed_paragraphs_come_with_one_block_of_context() -> None:
    old = "\n\n".join(f"Paragraph number {number}." for number in range(9))
    diff = compare_words(old, old.replace("Paragraph number 4.", "Paragraph number 4.\n\nA wholly new thought."))
    assert [block.kind for block in diff.blocks] == ["skipped", "same", "added", "same", "skipped"]
    assert [block.count for block in diff.blocks if block.kind == "skipped"] == [4, 3]
    assert compare_words(old, "").removed == 27


def test_paragraphs_with_nothing_in_common_are_shown_one_after_the_other() -> None:
    diff = compare_words("Bread is baked before dawn.", "Ships sail whenever tides permit.")
    assert [block.kind for block in diff.blocks] == ["removed", "added"]


def test_a_removed_paragraph_is_removed_with_its_full_stop() -> None:
    old = "Tickets cost nine crowns at the window.\n\nIn winter there are fewer boats.\n\nThe end of it all."
    diff = compare_words(old, "Tickets cost ten crowns at the window.\n\nThe end of it all.")
    assert [block.kind for block in diff.blocks] == ["changed", "removed", "same"]
    assert diff.blocks[1].parts == (Part("removed", "In winter there are fewer boats."),)


def test_a_link_that_leads_elsewhere_is_a_change() -> None:
    diff = compare_words("See [the list](https://a.example/1).", "See [the list](https://a.example/2).")
    assert words(diff, "removed") == ["1"]
    assert words(diff, "added") == ["2"]


def test_link_targets_do_not_hide_changed_words() -> None:
    diff = compare_words(
        "A long sentence with [a link](https://a.example/very/long/path) and its old end.",
        "A long sentence with [a link](https://a.example/very/long/path) and its new end.",
    )
    assert "https" not in "".join(part.text for part in diff.blocks[0].parts)
    assert words(diff, "added") == ["new"]


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    diff = compare_words("灯台は港の東にあります。朝になると消えます。", "灯台は港の西にあります。朝になると消えます。")
    assert (words(diff, "removed"), words(diff, "added")) == (["東"], ["西"])


def test_right_to_left_text_keeps_its_order() -> None:
    old, new = "تفتح المكتبة أبوابها في التاسعة صباحا", "تفتح المكتبة أبوابها في العاشرة صباحا"
    assert old_and_new(compare_words(old, new)) == (old, new)


def test_both_texts_can_be_put_together_from_the_parts() -> None:
    chance = random.Random(7)
    names = [f"word{number}" for number in range(60)]
    for _ in range(200):
        old = [" ".join(chance.choices(names, k=chance.randrange(1, 30))) for _ in range(chance.randrange(1, 12))]
        new = [p for p in old if chance.random() > 0.1]
        new = [" ".join(chance.choice(names) if chance.random() < 0.2 else w for w in p.split()) for p in new]
        chance.shuffle(new) if chance.random() < 0.2 else None
        diff = compare_words("\n\n".join(old), "\n\n".join(new), context=1_000)
        if diff.blocks:
            before, after = old_and_new(diff)
            assert before.split() == " ".join(old).split()
            assert after.split() == " ".join(new).split()


def test_lines_of_code_lists_and_tables_are_blocks() -> None:
    text = "# Title\n\nA paragraph\nover lines.\n\n- one\n- two\n\n```py\nx = 1\n\ny = 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert split_blocks(text) == [
        *("# Title", "A paragraph over lines.", "- one", "- two", "x = 1", "y = 2"),
        *("| a | b |", "|---|---|", "| 1 | 2 |"),
    ]


def test_hostile_texts_end_with_bounded_work() -> None:
    chance = random.Random(1)
    for alphabet in ("a", "ab", "xyz"):
        for joint in (" ", "\n\n"):
            sides = [joint.join(chance.choice(alphabet) for _ in range(20_000)) for _ in range(2)]
            assert len(compare_words(*sides).blocks) <= 5_000


def test_a_long_result_is_cut_and_its_words_are_counted() -> None:
    old = "\n\n".join(f"a{number} b{number}" for number in range(6_000))
    new = "\n\n".join(f"c{number} d{number}" for number in range(6_000))
    diff = compare_words(old, new)
    assert (diff.cut, len(diff.blocks), diff.added, diff.removed) == (True, 5_000, 12_000, 12_000)
    assert diff.blocks[0] == Block("removed", (Part("removed", "a0 b0"),))
