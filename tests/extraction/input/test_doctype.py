from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction.input.decode import document_type


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<!DOCTYPE html>", "html5"),
        ("\n<!-- built by hand -->\n<!doctype HTML >", "html5"),
        ('<!DOCTYPE html SYSTEM "about:legacy-compat">', "html5"),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">', "html4-strict"),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">', "html4-transitional"),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Frameset//EN">', "html4-transitional"),
        ('<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">', "xhtml"),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">', "quirks"),
        ("<html><body>no declaration", "quirks"),
        ('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "xhtml"),
        ('<html xmlns="http://www.w3.org/1999/xhtml">', "quirks"),
        ("", "quirks"),
        ('<html><head><meta charset="utf-8">', "html5"),
        ('<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8">', "html4-transitional"),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><meta charset="utf-8">', "html4-strict"),
    ],
)
def test_declaration_names_the_document_type(head: str, expected: str) -> None:
    assert document_type(head, dom.parse(head)) == expected
