"""Pages that we wrote, which the stories save and read."""

from __future__ import annotations

import base64
from typing import Final

PICTURE: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAFElEQVR4nGOQjy7AihgGSCJ9cAIAFpE2gWpVK2gAAAAASUVORK5CYII="
)

_SENTENCE: Final = (
    "The keeper counts the ships before breakfast, writes the number down, and only then puts the kettle on. "
)
_PARAGRAPHS: Final = f"<p>{_SENTENCE * 3}</p>" * 6

RICH: Final = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>What a tide clock counts</title>
<meta name="author" content="Ines Halloran"><meta property="article:published_time" content="2026-02-03">
<meta name="keywords" content="tides, clocks"><meta property="og:image" content="{{here}}/pages/quay.png">
<meta name="description" content="A clock with one hand."></head><body><main><article>
<h1>What a tide clock counts</h1><p>{_SENTENCE * 2}<sup><a href="#fn1" id="r1">1</a></sup></p>
<figure><img src="{{here}}/pages/quay.png" alt="The quay"><figcaption>The quay at low water.</figcaption></figure>
<h2>One hand</h2><p>The mean interval is \\(T = 12.42\\) hours. {_SENTENCE}</p>
<pre><code class="language-python">def corrected(hours):
    return hours % 12.42
</code></pre>
<h2>How wrong it is</h2><table><thead><tr><th>Day</th><th>Off by</th></tr></thead><tbody><tr><td>springs</td><td>4 min</td></tr>
<tr><td>neaps</td><td>18 min</td></tr></tbody></table>{_PARAGRAPHS}
<h2>What it is for</h2><p>{_SENTENCE * 2}</p><ul><li>boots</li><li>boats</li></ul>
<div class="newsletter-box"><p>Write to us about wallpaper and other dull matters, every week, in many words and more.</p></div>
<section class="footnotes"><ol><li id="fn1"><p>The boots stand under it. <a href="#r1">↩</a></p></li></ol></section>
</article></main></body></html>"""

PLAIN: Final = (
    f"<!doctype html><html lang=en><title>The keeper</title><article><h1>The keeper</h1>{_PARAGRAPHS}</article>"
)

_HEBREW: Final = "השעון על מגדל המים מפגר בשבע דקות, וכל מי שגר במושב יודע לחשב את ההפרש בראש לפני שהוא יוצא לדרך. "
HEBREW: Final = (
    '<!doctype html><html lang="he" dir="rtl"><head><meta charset="utf-8"><title>השעון שמפגר</title></head><body><article>'
    f"<h1>השעון שמפגר</h1>{f'<p>{_HEBREW * 3}</p>' * 5}</article></body></html>"
)

WALL: Final = """<!doctype html><title>Just a moment...</title><h1>Checking your browser</h1>
<p>Verify you are human to continue.</p><form id="challenge-form" action="/cdn-cgi/challenge-platform/h"></form>
<script src="/cdn-cgi/challenge-platform/x.js"></script>"""

SITE: Final = {"clock": RICH, "keeper": PLAIN, "hebrew": HEBREW, "wall": WALL}
"""By the last part of their address."""
