"""The language of a code block, as the page names it."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.vocabulary import class_names
from pagekeep.text import compile_lazily

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
