from __future__ import annotations

import pytest

from pagekeep.extraction.metadata.author import find_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Jane Doe", ["Jane Doe"]),
        ("By Jane Doe and John Roe | Staff", ["Jane Doe", "John Roe"]),
        ("Written by: Jane Doe, Senior Editor", ["Jane Doe"]),
        ("This post was written by Jane Doe", ["Jane Doe"]),
        ("Jane Doe, MD, PhD & John Roe, R.N.", ["Jane Doe", "John Roe"]),
        ("Jane Doe (she/her) · 5 min read", ["Jane Doe"]),
        ("Jane Doe Dec 18, 2024", ["Jane Doe"]),
        ("Jane Doe on Friday December 18, 2024", ["Jane Doe"]),
        ("Von Erika Muster und Max Muster", ["Erika Muster", "Max Muster"]),
        ("Par Anne-Lise d'Arc", ["Anne-Lise d'Arc"]),
        ("Center for Small Things", ["Center for Small Things"]),
        ("Vincent van Gogh", ["Vincent van Gogh"]),
        ("ludwig van beethoven", []),
        ("Kitchen Table Staff", ["Kitchen Table Staff"]),
        ("&#74;ane <b>Doe</b>", ["Jane Doe"]),
        ("山田太郎", ["山田太郎"]),
        ("the Mill House Team", ["the Mill House Team"]),
        ("Jane Doe Last update", ["Jane Doe"]),
        ("By Jane Doe. Edited by John Roe", ["Jane Doe"]),
        ("3d77e-grain", ["3d77e-grain"]),
        ("Center for Rye Evaluation and Research", ["Center for Rye Evaluation and Research"]),
        ("Center for Rye Evaluation, Research", ["Center for Rye Evaluation, Research"]),
        ("Amt für Mehl, Brot und Mühlen", ["Amt für Mehl, Brot und Mühlen"]),
        ("Roggen-Verlag GmbH, Kornstadt, Germany", ["Roggen-Verlag GmbH"]),
        ("Jane Doe, University of Rye", ["Jane Doe"]),
        ("Justice et faits divers", ["Justice et faits divers"]),
        ("Jane Doe, baker of bread", ["Jane Doe"]),
        ("Erika Muster Stand: 05. Februar 2020", ["Erika Muster"]),
        ("rye_fan » 21.01.2009, 05:42", ["rye_fan"]),
        ("Jane Doe - Kornstadt", ["Jane Doe"]),
        ("Jane Doe | The Rye Post", ["Jane Doe"]),
        ("Jane Doe and John Roe | Guest Columnists", ["Jane Doe", "John Roe"]),
        ("By Jane Doe And John Roe For The Mill On Sunday", ["Jane Doe", "John Roe"]),
        ("By Jane Doe NEW RYE POST Dec 16, 2016 at 1:38 pm", ["Jane Doe"]),
        ("Von Erika Muster, dpa", ["Erika Muster"]),
        ("Jane Doe @janedoe", ["Jane Doe"]),
        ("Jane Doe jane@rye.example", ["Jane Doe"]),
        ("Text und Interview: Erika Muster", ["Erika Muster"]),
        ("Text & Fotos: Max Muster", ["Max Muster"]),
        ("Text: Erika Muster, Fotos: Max Muster", ["Erika Muster"]),
        ("Datum: 19.11.2021 Autor: Max Muster Quelle: Mühle", ["Max Muster"]),
        ("Propos recueillis par Anne Dubois", ["Anne Dubois"]),
        ("Geschrieben von Erika Muster am 3. Mai 2020", ["Erika Muster"]),
        ("著者：山田太郎", ["山田太郎"]),
        ("Juan Carlos GARCIA LOPEZ", ["Juan Carlos GARCIA LOPEZ"]),
        ("Posted by rye_fan under Bread", ["rye_fan"]),
    ],
)
def test_names_are_freed_of_everything_else(text: str, expected: list[str]) -> None:
    assert find_names(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "admin", "By", "https://social.example/janedoe", "jane@example.com", "@janedoe", "5 min read", "287 posts",
     "February 8", "Skip to content", "Follow us", "page.head.extra.author", "Staff Writer", "Thread starter",
     "Bread: how it rises", "Developed by Jane Doe", "Freitag 8. Mai 2020", "vendredi 8 mai 2020", "Veröffentlicht am",
     "wpadmin2", "Anónimo", "Teilen", "Written By", "Über Erika", "am 20.06.2018", "Fact checked by John Roe", "12", "A" * 200],
)  # fmt: skip
def test_text_without_a_person_has_no_name(text: str) -> None:
    assert find_names(text) == []
