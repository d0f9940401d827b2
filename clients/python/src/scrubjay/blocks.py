"""Takes a context block apart."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

# The ends of lines and the brackets that the service tells apart.
_ENDS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_OPENING = "\\[\u2045\u23a1\u2308\u230a\u2772\u27e6\u298b\u298d\u298f\u3010\u3014\u3016\u3018\u301a\ufe47\ufe5d\uff3b"
_OVERLOOKED = rf"""(?:[^\w{_ENDS}{_OPENING}!"#$%&'*+,\-./:;=?@^`|~]|[\u115f\u1160\u3164\uffa0])"""
_ESCAPED = re.compile(rf"(^|[{_ENDS}])\\(?={_OVERLOOKED}*+[{_OPENING}](?!\u2026\]\Z))")
_HEADER = re.compile(r"^\[([a-z_]+:[^\s\]]++) ([^\]\n]*+)\] ", re.M)


class Item(NamedTuple):
    handle: str
    heading: str
    """What its header says besides: time, kind, source, author, and how many items say the same (`×3`)."""
    text: str


def parse_block(block: str, nonce: str) -> list[Item]:
    """The items of a `context_block`. Only a header that ends in the answer's `nonce` begins an item.

    An item that is not cut has the text that was stored.
    """
    found = [header for header in _HEADER.finditer(block) if header[2].endswith(f" {nonce}")]
    items = []
    for header, following in itertools.zip_longest(found, found[1:]):
        end = len(block) if following is None else following.start() - 1
        text = _ESCAPED.sub(r"\1", block[header.end() : end])
        items.append(Item(header[1], header[2].removesuffix(f" {nonce}"), text))
    return items
