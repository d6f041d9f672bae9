from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "html",
    [
        "<script>x()</script>",
        "<style>p{}</style>",
        "<template><p>no</p></template>",
        "<svg><text>no</text></svg>",
        "<canvas>no</canvas>",
        "<form><input value='no'><select><option>no</select><textarea>no</textarea></form>",
        "<div><button>Subscribe</button></div>",
        "<div hidden>no</div>",
        "<div style='color:red; display: none'>no</div>",
        "<span class='sr-only'>no</span>",
        "<i class='icon' aria-hidden='true'>→</i>",
        "<i class='material-icons'>home</i>",
        "<noscript>Enable scripts</noscript>",
        "<object data='/x.swf'></object>".replace(" data='/x.swf'", ""),
    ],
)
def test_what_no_reader_sees_is_dropped(cleaned, html):
    assert cleaned(f"<p>tea</p>{html}") == "<p>tea</p>"


@pytest.mark.parametrize("attribute", ["aria-hidden='true'", "hidden='until-found'", "style='display:block'"])
def test_words_that_are_seen_stay(cleaned, attribute):
    assert cleaned(f"<p>green <span {attribute}>tea</span></p>") == "<p>green tea</p>"


def test_a_button_within_a_sentence_is_one_of_its_words(cleaned):
    assert cleaned("<p>pour the <button>tea</button> slowly</p>") == "<p>pour the tea slowly</p>"


def test_invisible_characters_go_and_joiners_stay(cleaned):
    assert cleaned("<p>te\u00ada\u200b \ufeff👩\u200d🍳</p>") == "<p>tea 👩\u200d🍳</p>"
