"""Which sentences of a model are kept: those that cite items of the block, and state nothing new. Pure.

What can be told: an unknown handle, the block's nonce, and a number or a name in code style that no cited item holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from services.context.stores import HANDLE
from shared.packing import tokens_of_line
from shared.render import Fence, items_of, render_item
from shared.search import code

LONGEST = 600
"""Characters of a sentence."""
MOST = 300
"""Sentences that are looked at."""
_MOST_CITES = 20
_NUMBER = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
# Letters of Indic and Persian scripts need these; other characters without a shape hide or reorder what stands beside.
_JOINERS = "\u200c\u200d"


class Sentence(msgspec.Struct):
    text: str
    cites: list[str]


class SentencesFields(msgspec.Struct):
    sentences: list[Sentence]


class Synthesized(NamedTuple):
    """A block of one item, and what it was made of."""

    block: str
    tokens: int
    text: str
    cited: list[str]
    """The handles that it cites, in order."""
    dropped: int
    """The sentences that were not kept, or had no room."""


def checked(sentences: Iterable[Sentence], items: Mapping[str, str], nonce: str) -> list[Sentence]:
    """`items` holds the block's items by their handles, with their headers."""
    lower = {handle: item.lower() for handle, item in items.items()}
    numbers = {handle: set(_numbers(item)) for handle, item in items.items()}
    kept = []
    for sentence in sentences:
        text = shown(sentence.text)
        cites = list(dict.fromkeys(cite.strip(" []") for cite in sentence.cites))
        if not _is_cited(text, cites, items) or nonce in text:
            continue
        said = HANDLE.sub("", text)
        known = set().union(*(numbers[cite] for cite in cites))
        named = all(any(name in lower[cite] for cite in cites) for name in _names(said))
        if named and known.issuperset(_numbers(said)):
            kept.append(Sentence(text, cites))
    return kept


def _names(text: str) -> Iterator[str]:
    """In code style. What has no letter is a number, or several."""
    return (name.lower() for name in code.names(text) if _LETTER.search(name))


def shown(text: str) -> str:
    """On one line, without characters that a reader does not see."""
    line = " ".join(text.split())
    return "".join(each for each in line if each.isprintable() or each in _JOINERS)


def _is_cited(text: str, cites: Sequence[str], items: Mapping[str, str]) -> bool:
    return (
        0 < len(text) <= LONGEST
        and 0 < len(cites) <= _MOST_CITES
        and all(cite in items for cite in cites)
        and all(handle in items for handle in HANDLE.findall(text))
    )


def _numbers(text: str) -> Iterator[str]:
    """Without leading zeros, as in dates."""
    for number in _NUMBER.findall(text):
        yield number.lstrip("0")


def evidence(block: str, nonce: str) -> dict[str, str]:
    """The block's items, each with the times and names of its header, but no handle and no nonce, which say nothing."""
    items: dict[str, str] = {}
    for handle, item in items_of(block):
        said = item.replace(handle, "", 1).replace(nonce, "", 1)
        items[handle] = f"{items[handle]}\n{said}" if handle in items else said
    return items


def rendered(kept: Sequence[Sentence], style: str, fence: Fence, tokens: int) -> Synthesized | None:
    """As many sentences as there is room for, in their order. None where there is no room for one."""
    made = None
    lines: list[str] = []
    for sentence in kept:
        lines.append(f"{sentence.text} {' '.join(f'[{cite}]' for cite in sentence.cites)}")
        text = " ".join(lines) if style == "narrative" else "\n".join(f"- {line}" for line in lines)
        block = render_item(f"synthesis:{style}", fence.now, ["model"], text, fence)
        size = tokens_of_line(block)
        if size > tokens:
            break
        cited = dict.fromkeys(cite for each in kept[: len(lines)] for cite in each.cites)
        made = Synthesized(block, size, text, [*cited], len(kept) - len(lines))
    return made
