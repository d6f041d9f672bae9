"""Escape text that looks like Markdown, with as few backslashes as CommonMark and GFM allow.

Whether some characters need a backslash depends on what ends up next to them, which is known only with the whole line.
Until then they are marks: control characters, which cannot occur in text after `clean`.
"""

from __future__ import annotations

import re
from typing import Final

from pagekeep.text import compile_lazily

ATOM_START: Final = "\x0e"
ATOM_END: Final = "\x0f"
"""Around links, images, code and math, which emphasis must not be moved into."""
DOLLAR: Final = "\x10"
"""A dollar sign in the text, escaped only where it could start math."""
BANG: Final = "\x11"
"""The `!` of an image, as opposed to one in the text before a link."""
BRACKET: Final = "\x12"
"""A closing bracket in the text, escaped only where it could end the text of a link."""

_ASCII_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff"
_CONTROL: Final = re.compile(rf"[{_CONTROLS}\ud800-\udfff]")
_SPECIAL: Final = compile_lazily(r"\*+|_+|~+|[\\`<&\[\]$]|!(?=\[)|\^(?=\[|$)")
_ANY_SPECIAL: Final = re.compile(r"[\\`*_~<&\[\]$^]")
_TAG_START: Final = compile_lazily(r"<(?:[A-Za-z/!?]|$|[^\s<>]*@)")
_ENTITY: Final = compile_lazily(r"&#?\w{1,40};")


def clean(text: str) -> str:
    """Return the text with spaces for unusual line ends, U+FFFD for lone surrogates, and no other control characters."""
    return text if text.isprintable() else _CONTROL.sub(_replace_control, text)


def clean_lines(text: str) -> str:
    """Do what `clean` does, for a text of many lines."""
    is_clean = text.replace("\n", "").replace("\t", "").isprintable()
    return text if is_clean else clean(text)


def _replace_control(match: re.Match[str]) -> str:
    found = match.group()
    if found.isspace():
        return " "
    return "\ufffd" if 0xD800 <= ord(found) <= 0xDFFF else ""


def has_special(text: str) -> bool:
    """Return whether the text has a character that may need a backslash."""
    if len(text) < _LONG_CHARS:
        return _ANY_SPECIAL.search(text) is not None
    return (
        "*" in text or "_" in text or "[" in text or "]" in text or "&" in text or "$" in text or "`" in text
        or "<" in text or "~" in text or "\\" in text or "^" in text
    )  # fmt: skip


_LONG_CHARS: Final = 32
"""From this length on, looking for each character is faster than a regular expression."""


def escape(text: str, *, in_link: bool = False) -> str:
    """Return one line of clean text as Markdown that renders to that text, anywhere in a line."""
    if not has_special(text):
        return text
    return _SPECIAL.sub(_escape_in_link if in_link else _escape_special, text)


def escape_first(text: str, *, in_link: bool = False) -> str:
    """Like `escape`, for the start of a line, where `~5` needs no backslash."""
    escaped = escape(text, in_link=in_link)
    return escaped[1:] if escaped.startswith("\\~") and text[1:2].isalnum() else escaped


def _escape_in_link(match: re.Match[str]) -> str:
    found = match.group()
    return "\\" + found if found in "[]" else _escape_special(match)


def _escape_special(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    before = text[start - 1] if start else ""
    after = text[end] if end < len(text) else ""
    found = match.group()
    mark = found[0]
    if mark in "*_~":
        return found if _is_harmless(mark, len(found), before, after) else ("\\" + mark) * len(found)
    if mark == "[":
        return "\\[" if after == "^" else "["
    if mark == "]":
        return BRACKET
    if mark == "$":
        return DOLLAR
    if mark == "\\":
        return "\\\\" if not after or after in _ASCII_PUNCTUATION else "\\"
    if mark == "<":
        return "\\<" if _TAG_START.match(text, start) else "<"
    if mark == "&":
        return "\\&" if _ENTITY.match(text, start) else "&"
    return "\\" + mark


def _is_harmless(mark: str, length: int, before: str, after: str) -> bool:
    """Return whether a run of `*`, `_` or `~` can neither open nor close anything."""
    if before == " " and after == " ":
        return mark != "~" or length < 3
    if mark == "_":
        return before.isalnum() and after.isalnum()
    return mark == "~" and length == 1 and before in (" ", "/", "(") and after.isalnum()


_DIGIT: Final = (
    "[\\d\u00b2\u00b3\u00b9\u1369-\u1371\u2070-\u2089\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\U0001f100-\U0001f10a]"
)
"""Digits, including superscript, subscript and circled ones."""
_MATH_BY_DIGIT: Final = compile_lazily(rf"(?<={_DIGIT})(?={ATOM_START}\$)|(?<=\${ATOM_END})(?={_DIGIT})")
"""Renderers take a dollar sign next to a digit for money."""
_CALLOUT: Final = compile_lazily(rf"\A\[!(?=[\w-]+{BRACKET})")


def publish(text: str) -> str:
    """Replace the marks by their final characters, now that the whole line is known."""
    if DOLLAR in text:
        text = text.replace(DOLLAR, "\\$" if _could_be_math(text) else "$")
    if ATOM_END in text:
        if f"`{ATOM_END}{ATOM_START}`" in text:
            text = _TOUCHING_CODE.sub(_join_code, text)
        if f"${ATOM_END}" in text:
            text = _MATH_BY_DIGIT.sub(" ", text)
        # A footnote before a parenthesis, or an exclamation mark or caret before a link, would mean something else.
        text = text.replace(f"]{ATOM_END}(", "]\\(")
        text = text.replace(f"!{ATOM_START}[", "\\![").replace(ATOM_START, "").replace(ATOM_END, "")
    if BRACKET in text:
        if text.startswith("["):  # `[!note]` would be a callout, `[text]: word` define a link
            text = _CALLOUT.sub(r"\\[!", text).replace(BRACKET + ":", "\\]:")
        text = text.replace(BRACKET + "(", "\\](").replace(BRACKET, "]")
    return text.replace(BANG, "!")


def _could_be_math(text: str) -> bool:
    """Return whether two dollar signs could be a pair: one before a non-space, a later one after a non-space."""
    if "$" in text or DOLLAR * 2 in text:
        return True
    opened = False
    for match in re.finditer(DOLLAR, text):
        before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
        if opened and not before.isspace() and not after.isdigit():
            return True
        # A line break will be a backslash and a newline, not a space.
        opened = opened or after == "\n" or bool(after and not after.isspace())
    return False


_BARE_DOLLAR: Final = compile_lazily(r"(?<!\\)\$")


def escape_dollars(tex: str) -> str:
    """Escape TeX for use between dollar signs: a dollar sign inside would end it, a last backslash would hide the end."""
    tex = _BARE_DOLLAR.sub(r"\\$", tex) if "$" in tex else tex
    return tex[:-1].rstrip() if tex.endswith("\\") and (len(tex) - len(tex.rstrip("\\"))) % 2 else tex


_DIGITS: Final = frozenset("0123456789")
_RISKY: Final = _DIGITS | frozenset("#-+*_=>|:[~")
_BLOCK_START: Final = compile_lazily(
    r"#{1,6}(?: |$)|[-+*](?: |$)|>|~~~"
    r"|=+ *$|-{2,} *$|([-_*])(?: *\1){2,} *$|[|:-][-|: ]*$"  # underlines, rules, the line below a table's header
    r"|\[[ xX]\](?: |$)"  # tasks
)
_NUMBER: Final = compile_lazily(r"(\d{1,9})[.)](?: |$)")
_NOTE_START: Final = compile_lazily(r"\[\^[^\]]*\](?=:)")


def guard_line(line: str) -> str:
    """Add a backslash if the start of the line would start a block other than a paragraph."""
    if not line or line[0] not in _RISKY:
        return line
    if line[0] in _DIGITS:
        number = _NUMBER.match(line)
        return f"{number.group(1)}\\{line[number.end(1) :]}" if number else line
    if line[0] == "[" and line[1:2] not in "^ xX":  # a link, most often
        return line
    if note := _NOTE_START.match(line):
        return f"{note.group()}\\{line[note.end() :]}"
    return "\\" + line if _BLOCK_START.match(line) else line


def guard(paragraph: str) -> str:
    """Apply `guard_line` to every line, and turn line ends into hard breaks."""
    if "\n" not in paragraph:
        return guard_line(paragraph)
    return "\\\n".join(guard_line(line) for line in paragraph.split("\n"))


_BACKTICKS: Final = compile_lazily("`+")


def count_ticks(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, _BACKTICKS.findall(text)), default=0) if "`" in text else 0


def code_span(text: str) -> str:
    """Return one line of code between backticks."""
    ticks = "`" * (count_ticks(text) + 1)
    pad = " " if len(ticks) > 1 else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


_TOUCHING_CODE: Final = compile_lazily(f"(?:{ATOM_START}`[^{ATOM_END}]*`{ATOM_END}){{2,}}")


def _join_code(match: re.Match[str]) -> str:
    """Join adjacent code spans, whose backticks would be ambiguous."""
    spans = match.group()[1:-1].split(ATOM_END + ATOM_START)
    return code_span("".join([_CODE_SPAN.sub(r"\2", span) for span in spans]))


_CODE_SPAN: Final = compile_lazily("(`(?!`)|`+ )(.*?)(?: `+|`)$")


_MAX_PARENTHESES: Final = 30
"""Nested parentheses in a URL; renderers stop counting at 32."""
_URL_UNSAFE: Final = re.compile(rf"[\s<>\\`|{_CONTROLS}\ud800-\udfff]|&(?=#?\w+;)")


_URL_SPECIAL: Final = re.compile(r"[ <>\\`|&]")


def destination(url: str) -> str:
    """Escape a URL for use between the parentheses of a link, also in a table."""
    url = url.strip()
    if not url.isascii() or not url.isprintable() or _URL_SPECIAL.search(url):
        url = _URL_UNSAFE.sub(_percent, url)
    if ("(" in url or ")" in url) and not _is_balanced(url):
        url = url.replace("(", "%28").replace(")", "%29")
    return url


def _percent(match: re.Match[str]) -> str:
    found = match.group()
    if found == "&":
        return "\\&"
    return "".join(f"%{byte:02X}" for byte in found.encode("utf-8", "replace"))


def _is_balanced(url: str) -> bool:
    depth = 0
    for mark in re.findall("[()]", url):
        depth += 1 if mark == "(" else -1
        if depth < 0 or depth > _MAX_PARENTHESES:
            return False
    return depth == 0


def link_title(title: str) -> str:
    """Return a title for use after a link's destination, with its quotes and the space before."""
    words = clean(" ".join(title.split())).replace("\\", "\\\\").replace('"', '\\"')
    return f' "{words.replace("&", chr(92) + "&")}"' if words else ""
