"""XML of others: no entities, bounded depth and size, one prefix for each namespace."""

from __future__ import annotations

import pytest

from pagekeep.capture.documents import zip_xml
from pagekeep.capture.documents.parsed import DamagedFile
from pagekeep.errors import TooLarge

STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def test_names_have_our_prefixes_whatever_the_file_calls_them() -> None:
    root = zip_xml.parse_xml(f'<a:p xmlns:a="{STRICT}" a:x="1">one<a:b>two</a:b> three<c/></a:p>'.encode())
    assert (root.tag, root.attrib, zip_xml.text_of(root)) == ("w:p", {"w:x": "1"}, "onetwo three")
    assert [child.tag for child in root] == ["w:b", "c"]


@pytest.mark.parametrize(
    "source",
    [
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b"<!DOCTYPE a [<!ELEMENT a ANY>]><a/>",
        b"<a><b></a>",
        b"",
        b'<?xml version="1.0" encoding="no-such"?><a/>',
        b"<a>" * 200 + b"</a>" * 200,
    ],
)
def test_entities_deep_nesting_and_broken_xml_are_refused(source: bytes) -> None:
    with pytest.raises(DamagedFile):
        zip_xml.parse_xml(source)


def test_a_document_type_elsewhere_is_not_loaded() -> None:
    assert zip_xml.parse_xml(b'<!DOCTYPE a SYSTEM "http://mill.example/a.dtd"><a>x&nbsp;y</a>').text == "xy"


def test_the_number_of_elements_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_xml, "MAX_ELEMENTS", 10)
    with pytest.raises(TooLarge):
        zip_xml.parse_xml(b"<a>" + b"<b/>" * 10 + b"</a>")
