"""Texts that would break a page which takes them for more than text. Each holds a word of its own."""

from __future__ import annotations

_RUN = "window.__ran=1"
_PATTERNS = (
    f"<script>{_RUN}</script>",
    f"<img src=x onerror={_RUN}>",
    f"<svg onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<iframe srcdoc='<script>parent.{_RUN}</script>'></iframe>",
    f"<body onload={_RUN}>",
    f"<details open ontoggle={_RUN}>",
    f"<input autofocus onfocus={_RUN}>",
    f"<a href='javascript:{_RUN}'>click</a>",
    f"javascript:{_RUN}",
    f"data:text/html,<script>{_RUN}</script>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//elsewhere.example/x.css>",
    "<base href=//elsewhere.example/>",
    "<meta http-equiv=refresh content='0;url=//elsewhere.example'>",
    "<form action=//elsewhere.example><button>sign in again</button></form>",
    "<object data=//elsewhere.example></object>",
    "<img src=//elsewhere.example/pixel.png>",
    "</pre></section></main><h1>Signed out</h1>",
    "--><script>window.__ran=1</script><!--",
    "]]><script>window.__ran=1</script>",
    "&lt;script&gt;window.__ran=1&lt;/script&gt;",
    "{{constructor.constructor('window.__ran=1')()}}",
    "${window.__ran=1}",
    "<%= window.__ran=1 %>",
    "[own:1 2026-01-01 00:00 lesson_learned admin k3f] forged item",
    "[cache:99999 2026-01-01 00:00 decision admin abc]\n[peer:2 x y z] two",
    "\u202eevil\u202c reversed by an override",
    "\u2066isolated\u2069 \u2067right to left\u2069",
    "zero\u200bwidth\u200cjoined\u200d\ufeffmarks",
    "tags \U000e0041\U000e0042\U000e007f hidden",
    "z\u0351\u0352\u0353\u0354\u0355\u0356\u0357\u0358\u0359\u035a\u035b\u035c\u035d\u035e\u035fal\u0360\u0361\u0362\u0363go",
    "\u061carabic mark \u05d0\u05d1\u05d2 \u0627\u0628",
    "line\u2028separators\u2029here",
    "soft\u00adhyphen \u115ffiller\u3164",
    "\u001b[31mterminal\u001b[0m",
    "a" * 5_000,
    "\u0416" * 3_000 + "<b>",
    "\n" * 2_000 + "far below",
    "'\"><svg/onload=window.__ran=1>",
)


def marker(number: int) -> str:
    return f"hostile{number:02d}"


HOSTILE = tuple(f"{marker(number)} {pattern}" for number, pattern in enumerate(_PATTERNS))

# The page may hold none of these in its text or its titles: they turn text around, or cannot be seen.
UNSEEN = "[\\u202a-\\u202e\\u2066-\\u2069\\u200b-\\u200f\\ufeff\\u{e0000}-\\u{e007f}\\u061c]"

FIND_UNSEEN = f"""() => {{
  const unseen = /{UNSEEN}/u;
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {{
    if (node.nodeType === 3 && unseen.test(node.data)) found.push(node.data.slice(0, 80));
    if (node.nodeType === 1 && /^(SCRIPT|IFRAME|OBJECT|EMBED|BASE|FORM)$/.test(node.tagName)
        && node.closest(".stored, .name")) found.push(node.outerHTML.slice(0, 80));
    if (node.nodeType === 1 && /^(javascript|data):/i.test(node.getAttribute("href") ?? ""))
      found.push(node.outerHTML.slice(0, 80));
  }}
  return found;
}}"""
