"""Makes texts that PostgreSQL's text parser reads in linear time.

Where a run of characters without a space may be an address or a path, the parser tries each of them at every place of
the run, so 8,000 characters such as `e@1e@1…` take it four seconds. Runs of ordinary text are short. In a longer run,
all that is no letter and no digit becomes a space: its words stay. Texts that are indexed and questions go through the
same rule.
"""

from __future__ import annotations

import re

# The longest web address or path that is read as such.
_LONGEST_RUN = 128
_LONG_RUN = re.compile(rf"\S{{{_LONGEST_RUN + 1},}}")
_NO_WORD = re.compile(r"[\W_]")
# An address has one @.
_SEVERAL_AT = re.compile(r"(?<!\S)[^\s@]*@[^\s@]*@\S*")


def readable(text: str) -> str:
    text = _LONG_RUN.sub(_words_of, text)
    return _SEVERAL_AT.sub(_words_of, text) if text.count("@") > 1 else text


def _words_of(run: re.Match[str]) -> str:
    return _NO_WORD.sub(" ", run[0])
