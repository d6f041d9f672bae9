"""Code blocks: whatever the highlighter, `<pre><code class="language-x">` with the lines of the code alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.preformatted import (
    EDITORS,
    NUMBERS,
    code_text,
    join_editor_lines,
    join_file_tables,
    join_fragments,
    join_line_boxes,
    join_numbered_columns,
    write_line_breaks,
    write_preformatted,
)
from pagekeep.extraction.clean.state import (
    BLOCKS,
    KEPT_INLINE,
    CleanState,
    Removals,
    ancestors,
    class_names,
    first_elements,
    is_blank,
    is_only_child,
    shown_after,
    shown_before,
)
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

_BARE: Final = (
    ":is(div,figure,td):is([class*=highlight],[class*=code-block],[class*=codeblock],[class*=CodeBlock]) > code,"
    "code.block,code[class*='language-'],"
    ":is(div,section)[class*=code]:is([data-lang],[data-language])"
)
_CLASS_PARTS: Final = ("blob-code", "code-", "-code", *(box.removeprefix(".") for box in EDITORS))
_CODE_OR_TEXT: Final = "pre,code,p,table,textarea," + ",".join(EDITORS)
_NOT_CODE: Final = "img,h1,h2,h3,h4,h5,h6,iframe,video"
_MAX_DEPTH: Final = 12
"""Boxes around code that are searched for a block."""
_MAX_CELL_DEPTH: Final = 3
"""Boxes between a `pre` and its cell in a table of line numbers."""


def normalise_code_blocks(state: CleanState) -> list[Removal]:
    """Turn every code block into `pre` and `code` with its language, without line numbers and buttons."""
    removals, root = Removals(state.changes), state.root
    write_preformatted(root, removals)
    if not (state.index.has_tag("pre", "code") or state.index.has_class(*_CLASS_PARTS)):
        return removals
    join_editor_lines(root, removals)
    join_line_boxes(root, removals)
    if state.index.has_tag("table"):
        join_file_tables(root, removals)
        join_numbered_columns(root, removals)
    join_fragments(root, removals)
    for node in dom.select(root, f"pre,code:has(br),{_BARE}"):
        if node.tag == "pre":
            _normalise_pre(node, removals)
        elif node.tag != "code":
            _normalise_box(node, removals)
        elif not _is_in_pre(node) and dom.first(node, "pre") is None:
            _normalise_bare(node, removals)
    return removals


def _is_in_pre(node: dom.Element) -> bool:
    return any(above.tag == "pre" for above in ancestors(node, _MAX_DEPTH))


def _normalise_pre(pre: dom.Element, removals: Removals) -> None:
    if pre.parent is None or _is_in_pre(pre):
        return
    if dom.first(pre, "pre") is not None:
        dom.retag(pre, "div")
        return
    if dom.first(pre, _NOT_CODE) is not None or "wp-block-verse" in class_names(pre):
        write_line_breaks(pre)
        dom.retag(pre, "div")
        return
    table = _code_table(pre)
    if table is not None and _is_gutter_cell(pre):
        return
    place = table or pre
    language = language_of(pre)
    inner, label_language = take_inner_bar(pre, language, removals)
    label_language = label_language or take_label(place, language, removals)
    text = code_text(inner, removals)
    if table is not None:
        removals.note_rebuilt(pre)
        dom.drop(pre)
        removals.record_words([table], "line numbers of a code block")
    _write_block(place, text, language or label_language, removals)


def _normalise_bare(code: dom.Element, removals: Removals) -> None:
    """Make a `code` without `pre` a block if its class says so, or if it has several lines and its own place."""
    beside = Removals()
    text = code_text(code, beside)
    if ("\n" in text.strip() and _is_own_line(code)) or "block" in class_names(code):
        _write_block(code, _dedent(text), language_of(code), removals)
        removals += beside


def _normalise_box(box: dom.Element, removals: Removals) -> None:
    """Make a box a block if its class says code, it names a language, and it holds nothing but text."""
    if dom.first(box, _CODE_OR_TEXT) is None and box.parent is not None:
        _write_block(box, _dedent(code_text(box, removals)), language_of(box), removals)


def _dedent(text: str) -> str:
    """Remove the common indentation: outside `pre`, it is the indentation of the page's own source."""
    lines = text.strip("\n").split("\n")
    margins = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "\n".join([line[margin:] for line in lines]) if margin else text


def _is_own_line(node: dom.Element) -> bool:
    """Return whether nothing else is in the line, looking through inline boxes without a meaning."""
    for _ in range(_MAX_DEPTH):
        if not (_ends_line(node, shown_before) and _ends_line(node, shown_after)):
            return False
        parent = node.parent
        if not isinstance(parent, dom.Element) or parent.tag in KEPT_INLINE:
            return False
        if parent.tag in BLOCKS:
            return True
        node = parent
    return False


def _ends_line(node: dom.Node, step: Callable[[dom.Node], dom.Node | None]) -> bool:
    beside = step(node)
    return beside is None or (isinstance(beside, dom.Element) and (beside.tag == "br" or beside.tag in BLOCKS))


def _write_block(place: dom.Element, text: str, language: str, removals: Removals) -> None:
    removals.note_rebuilt(place)
    text = text.replace("\xa0", " ").replace("\r\n", "\n").strip("\n").rstrip()
    if not text:
        dom.replace(place, " ")
        return
    code = dom.element("code", {"class": f"language-{language}"} if language else None, text)
    dom.replace(place, dom.element("pre", None, code))


def _code_table(pre: dom.Element) -> dom.Element | None:
    """Return the table with one row that holds this `pre` and its line numbers, if it is in one."""
    cell = pre.parent
    for _ in range(_MAX_CELL_DEPTH):
        if not isinstance(cell, dom.Element) or cell.tag in ("td", "th"):
            break
        cell = cell.parent
    row = cell.parent if isinstance(cell, dom.Element) else None
    if not isinstance(row, dom.Element) or row.tag != "tr":
        return None
    body = row.parent
    table = body.parent if isinstance(body, dom.Element) and body.tag != "table" else body
    if not isinstance(table, dom.Element) or table.tag != "table" or not is_only_child(row):
        return None
    blocks = dom.tagged(table, ("pre",), limit=3)
    if len(blocks) == 3 or (len(blocks) == 2 and not any(map(_is_gutter_cell, blocks))):
        return None  # the table is replaced by one numbered block; others in it would be lost
    if any(name in ("highlighttable", "lntable", "rouge-table") for name in class_names(table)):
        return table
    gutter = dom.first(row, "td,th")
    numbered = gutter is not None and NUMBERS.fullmatch(dom.text_of(gutter)) is not None
    return table if numbered and gutter is not cell else (table if numbered and _has_code_beside(pre) else None)


def _is_gutter_cell(pre: dom.Element) -> bool:
    text = dom.text_of(pre)
    return NUMBERS.fullmatch(text) is not None and _has_code_beside(pre)


def _has_code_beside(pre: dom.Element) -> bool:
    cell: dom.Node | None = pre
    while isinstance(cell, dom.Element) and cell.tag not in ("td", "th"):
        cell = cell.parent
    return cell is not None and dom.next_element(cell) is not None


_BARS: Final = frozenset("div span header p figcaption b strong em i".split())
_MAX_BAR_CHARS: Final = 200
"""Of the text of a bar above a block; more is text of the page."""
_MAX_NAMES_CHARS: Final = 80
"""Of a bar that names a file and a language."""
_MAX_BAR_DEPTH: Final = 6
"""Boxes around a block that may follow a bar with its language."""
_MAX_BAR_ELEMENTS: Final = 12
_MAX_BLANKS: Final = 8
"""Blank nodes between a bar and its block."""
_BUTTONS: Final = "button,[role=button],clipboard-copy"


def take_inner_bar(pre: dom.Element, language: str, removals: Removals) -> tuple[dom.Element, str]:
    """Return the element in a `pre` that holds the code alone, and the language that the bar beside it names.

    A bar that names something else, such as a file, is put before the block.
    """
    codes = dom.tagged(pre, ("code",), limit=2)
    if len(codes) != 1 or (codes[0].parent is pre and len(pre.children) == 1):
        return pre, ""
    code = codes[0]
    beside = _beside(pre, code)
    label = " ".join(" ".join(map(_label, beside)).split())
    text = dom.text_of(code)
    if not beside or not text.strip() or len(label) > _MAX_BAR_CHARS or any(part.tag not in _BARS for part in beside):
        return pre, ""
    label_language = language_from_label(label)
    if label and not label_language and not is_empty_label(label) and label.lower() != language:
        dom.add_before(pre, dom.element("p", None, label))
    removals.record_words(beside, "bar of a code block")
    return code, label_language


def _beside(pre: dom.Element, code: dom.Element) -> list[dom.Element]:
    """Return the boxes in a `pre` beside the boxes around the code; none if there is also text between them."""
    beside: list[dom.Element] = []
    node: dom.Node = code
    while node is not pre and node.parent is not None:
        for child in node.parent.children:
            if child is node or is_blank(child):
                continue
            if not isinstance(child, dom.Element):
                return []
            beside.append(child)
        node = node.parent
    return [part for part in beside if part.tag not in ("button", "svg", "style", "script")] or beside[:0]


def take_label(block: dom.Element, language: str, removals: Removals) -> str:
    """Remove the bar above a block that names its language; return that language."""
    node: dom.Node = block
    for _ in range(_MAX_BAR_DEPTH):
        before = _right_before(node)
        if isinstance(before, dom.Text):
            return ""
        if before is not None:
            label = _label(before)
            if _is_only_buttons(before, label) or is_empty_label(label):
                removals.drop(before, "buttons of a code block")
                continue
            label_language = language_from_label(label)
            if label_language and (
                not language
                or language in (label_language, label.lower())
                or language_from_label(language) == label_language
            ):
                removals.drop(before, "name of a code block's language")
                return label_language
            return _take_part(before, language, removals)
        parent = node.parent
        if not isinstance(parent, dom.Element) or parent.tag not in ("div", "figure", "code", "section"):
            return ""
        node = parent
    return ""


def _take_part(bar: dom.Element, language: str, removals: Removals) -> str:
    """Remove the name of the language from a bar that also names a file; return it."""
    is_bar = bar.tag in ("div", "header", "figcaption") and len(dom.text_of(bar)) <= _MAX_NAMES_CHARS
    if not is_bar or dom.first(bar, "p,code,a,em,strong") is not None:
        return ""
    for part in first_elements(bar, _MAX_BAR_ELEMENTS):
        found = language_from_label(dom.text_of(part).strip()) if part.tag in ("span", "div") else ""
        if found and (not language or language_from_label(language) == found or language == found):
            removals.drop(part, "name of a code block's language")
            return found
    return ""


def _is_only_buttons(bar: dom.Element, label: str) -> bool:
    return not label and bar.tag in _BARS and (dom.first(bar, _BUTTONS) is not None or not bar.children)


def _right_before(node: dom.Node) -> dom.Element | dom.Text | None:
    """Return the element before the node, or the text between them; many blank nodes count as text."""
    before = node.previous_sibling
    for _ in range(_MAX_BLANKS):
        if isinstance(before, dom.Element) or (isinstance(before, dom.Text) and not is_blank(before)):
            return before
        if before is None:
            return None
        before = before.previous_sibling
    return None


def _label(bar: dom.Element) -> str:
    if bar.tag not in _BARS or (bar.tag == "p" and any(node.tag not in _BARS for node in dom.elements(bar))):
        return ""  # a paragraph with a link or a key is text of the page
    text = dom.text_of(bar)
    if len(text) > _MAX_BAR_CHARS:
        return ""
    for button in dom.select(bar, _BUTTONS):
        text = text.replace(dom.text_of(button), "", 1)
    return text.strip()


_ATTRIBUTES: Final = (
    "data-lang",
    "data-language",
    "data-code-lang",
    "data-code-language",
    "data-canonical-lang",
    "data-enlighter-language",
    "data-programming-language",
    "data-mode-id",
    "data-syntax",
    "language",
    "syntax",
)
_PARAMETERS: Final = ("data-syntaxhighlighter-params", "data-params")
_BRUSH: Final = compile_lazily(r"brush:\s*([\w+#.-]+)")
_PREFIXED: Final = compile_lazily(
    r"(?:(?:[a-zA-Z][\w-]*-)?lang(?:uage)?-|brush:|lang:|highlight-(?:source|text)-)([\w+#.-]+);?"
)
"""Prefixes that only highlighters use: the name after them may be a language that is not in our list."""
_HINTED: Final = compile_lazily(r"(?:highlight-|hl-|src-|syntax-|sourceCode-?|(?:[a-z]+-)?code-)([\w+#.-]+)")
"""Prefixes that other class names have too: the name after them must be a known language."""
_NAME: Final = compile_lazily(r"[a-z0-9][a-z0-9+#._-]{0,29}")
_NONE: Final = frozenset(
    "plaintext text plain none nohighlight no-highlight default auto txt raw unknown undefined null code source "
    "wrapper block container default2".split()
)
_MAX_BOXES: Final = 10
"""Boxes around a block that may name its language; a table of line numbers alone is five of them."""
_MAX_LABEL_CHARS: Final = 19
"""A longer label above a block is text and not the name of a language."""
_MARKERS: Final = frozenset(
    ("hl", "hljs", "sourceCode", "highlight", "prettyprint", "syntaxhighlighter", "src", "brush:", "shiki")
)
"""Classes after which highlighters write the bare name of the language."""
_LABELS: Final = (
    "c c c# csharp c++ cpp cpp cpp csharp csharp css css bash bash shell shell sh sh console console terminal "
    "bash powershell powershell python python py python javascript javascript js javascript jsx jsx typescript "
    "typescript ts typescript tsx tsx html html xml xml json json yaml yaml yml yaml toml toml ini ini java java "
    "kotlin kotlin swift swift go go golang go rust rust ruby ruby php php perl perl r r scala scala haskell "
    "haskell lua lua sql sql graphql graphql dart dart elixir elixir erlang erlang clojure clojure diff diff "
    "dockerfile dockerfile makefile makefile markdown markdown latex latex scss scss vue vue zig zig objective-c "
    "objectivec matlab matlab julia julia nix nix http http node.js javascript node javascript react jsx zsh zsh "
    "batch batch cmd cmd svelte svelte astro astro mdx mdx jsonc jsonc json5 json5 hcl hcl terraform terraform "
    "docker dockerfile vb.net vbnet f# fsharp ocaml ocaml solidity solidity sass sass less less mermaid mermaid "
    "prisma prisma groovy groovy fortran fortran pascal pascal assembly asm curl shell xaml xaml razor razor csv csv "
    "protobuf protobuf nginx nginx vim vim lisp lisp scheme scheme prolog prolog fish fish regex regex wasm wasm"
).split()
_LANGUAGE_OF_LABEL: Final = dict(zip(_LABELS[::2], _LABELS[1::2], strict=True))
"""Language names as written in bars above code blocks."""
_LANGUAGES: Final = (
    frozenset(_LANGUAGE_OF_LABEL) - {"terminal", "react", "node", "curl"}
    | frozenset(_LANGUAGE_OF_LABEL.values())
    | frozenset(
        "abap ada agda angelscript antlr apache apex apl applescript arduino asciidoc asm astro autohotkey avr awk ballerina "
        "basic batch bat bibtex bicep blade brainfuck bsl cobol coffee coffeescript clike cmake cmd coq cpp crystal csv cue "
        "cuda cypher cython d delphi django docker dos dot ebnf ejs elm elvish emacs erb excel f90 fish forth fortran fsharp "
        "gdscript gherkin git glsl gnuplot gradle groovy haml handlebars haxe hbs hcl hlsl hs html5 idris ini ipython ipython3 "
        "jinja jinja2 jsonc json5 jsonnet jsonl kt ksh latex lean lean4 less lisp liquid livescript llvm log m4 make "
        "mathematica md mdx mermaid mips mojo mustache mysql nasm nginx nim nimrod nunjucks objc objective-c objectpascal "
        "ocaml octave openscad pascal patch pgsql plantuml plpgsql plsql postcss postgres powerquery processing "
        "prolog prometheus promql "
        "properties proto protobuf ps1 pug puppet purescript pycon pytb python2 python3 q qml racket rb reason regex rego rest "
        "robot rs rst sas sass scheme smalltalk smarty solidity sparql splunk ssh sqlite stan stata stylus sv svelte svg sway "
        "systemverilog systemd tcl terraform tex thrift tla tree-sitter tsql turtle twig typst vala vb vba vbnet verilog vhdl "
        "vim viml visualbasic wasm wat wgsl wolfram xml xquery xsl xslt zsh zshell".split()
    )
)

_LANG_ATTRIBUTE: Final = frozenset(name for name in _LANGUAGES if len(name) > 2) | {"js", "ts", "py", "rb", "go"}
"""What `lang` on code may name; other short names are of languages that people speak, such as `sv` and `cs`."""
_ALIASES: Final = {
    "html-basic": "html",
    "html-erb": "erb",
    "html-vue": "vue",
    "html-php": "php",
    "html-django": "django",
}
"""Names that a code host makes of those of grammars."""
_NO_LANGUAGE_LABELS: Final = frozenset("text plaintext txt plain code snippet copy copied".split()) | {
    "plain text", "copy code", "code example", "copy to clipboard",
}  # fmt: skip


def language_of(block: dom.Element) -> str:
    """Return the language that a code block, its `code` child or a box around it names; empty if none does."""
    child = dom.first(block, "code")
    if child is not None:
        language = _named_by(child, bare=True)
        if language:
            return language
    language = _named_by(block, bare=True)
    node = block.parent
    for _ in range(_MAX_BOXES):
        if language or not isinstance(node, dom.Element) or node.tag in ("article", "main", "body", "li", "blockquote"):
            break
        language = _named_by(node, bare=node.tag == "figure")
        node = node.parent
    return language


def language_from_label(label: str) -> str:
    """Return the language behind a label such as `C++` or `Shell`; empty if it is not one."""
    return _LANGUAGE_OF_LABEL.get(label.lower(), "") if len(label) <= _MAX_LABEL_CHARS else ""


def is_empty_label(label: str) -> bool:
    """Return whether a bar above a block says only that it is text, or offers to copy it."""
    return label.lower() in _NO_LANGUAGE_LABELS


def _named_by(node: dom.Element, *, bare: bool) -> str:
    for name in _ATTRIBUTES:
        language = _known(node.attr(name) or "")
        if language:
            return language
    for name in _PARAMETERS:
        brush = _BRUSH.search(node.attr(name) or "")
        if brush and (language := _known(brush.group(1))):
            return language
    names = class_names(node)
    is_code = node.tag in ("pre", "code") or any("highl" in name or "code" in name.lower() for name in names)
    if is_code and (language := _known(node.attr("lang") or "")) in _LANG_ATTRIBUTE:
        return language
    for name in names:
        language = _in_class(name, is_code)
        if language:
            return language
    if "blob-wrapper" in names:
        names = ["hl", *(name.removeprefix("type-") for name in names if name.startswith("type-"))]
    return _bare_name(names) if bare or names[:1] in (["hl"], ["syntaxhighlighter"]) else ""


def _in_class(name: str, is_code: bool) -> str:
    """Return the language in a prefixed class; on a box that is not code (`lang-en`, `language-menu`), only a known one."""
    match = _PREFIXED.fullmatch(name)
    language = _known(match.group(1)) if match else ""
    if language and (is_code or language in _LANGUAGES):
        return language
    match = _HINTED.fullmatch(name)
    language = _known(match.group(1)) if match else ""
    return language if language in _LANGUAGES else ""


def _bare_name(names: list[str]) -> str:
    """Return the class next to a highlighter's own if it is the name of a language."""
    for marker, name in pairwise(names):
        if marker in _MARKERS:
            language = _known(name.rstrip(";"))
            if language and (marker == "brush:" or language in _LANGUAGES):
                return language
    if names and len(names) < 3 and (len(names) == 1 or names[1] in _MARKERS) and names[0].lower() in _LANGUAGES:
        return names[0].lower()
    return ""


def _known(name: str) -> str:
    name = name.strip().lower()
    name = _ALIASES.get(name, name)
    return name if name not in _NONE and _NAME.fullmatch(name) else ""
