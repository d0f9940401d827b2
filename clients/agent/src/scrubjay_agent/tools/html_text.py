"""The text of a page.

Python's parser takes time that grows with the square of what is never closed: 2 MB of `<a ` take it hours. So it runs
as a process of its own: `python -m scrubjay_agent.tools.html_text SECONDS` reads HTML from its input and writes the
text, both in UTF-8, and is killed after so many seconds of processor time.
"""

from __future__ import annotations

import resource
import sys
from html.parser import HTMLParser

_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "section"})


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def text_of(html: str) -> str:
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.pieces).splitlines())
    return "\n".join(line for line in lines if line)


def main() -> None:
    seconds = int(sys.argv[1])
    # The kernel's limit also ends it when the agent was killed.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    html = sys.stdin.buffer.read().decode("utf-8", "replace")
    sys.stdout.buffer.write(text_of(html).encode())


if __name__ == "__main__":
    main()
