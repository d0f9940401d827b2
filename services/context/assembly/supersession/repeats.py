"""Candidates that say the same: the block shows the best of them and counts the others. Pure.

No item stands for one that a block would show with another note on its source, or that is about another user. Equal
texts of several authors count as one, and its header names the authors; other wordings are their author's own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from services.context.assembly.ranking import Ranked
from shared.provenance import author, doubt
from shared.reading.likeness import Wordings, read
from shared.reading.memo import remembered
from shared.search import steps
from shared.search.evidence import Candidate

# Names that a header has room for.
_MOST_AUTHORS = 3


class Repeat(NamedTuple):
    ranked: Ranked
    of: Ranked


class Distinct(NamedTuple):
    """Candidates that say different things, and those that say what one of these says."""

    kept: list[Ranked]
    repeats: list[Repeat]


def without_equal(ranking: Iterable[Ranked]) -> Distinct:
    """Keeps the best of the candidates whose texts differ only in spaces and case, and a step that shows a new line."""
    first: dict[Hashable, Ranked] = {}
    shown: defaultdict[Hashable, dict[str, Ranked]] = defaultdict(dict)
    distinct = Distinct([], [])
    for ranked in ranking:
        candidate = ranked.candidate
        lines, voice = steps.lines_of(candidate), _voice(candidate)
        key = text_key(candidate), voice
        better = first.get(key)
        if better is None and lines:
            better = _shown_by(lines, shown[voice])
        if better is not None:
            distinct.repeats.append(Repeat(ranked, better))
            continue
        first[key] = ranked
        distinct.kept.append(ranked)
        for line in lines:
            shown[voice].setdefault(line, ranked)
    return distinct


def _shown_by(lines: Sequence[str], shown: Mapping[str, Ranked]) -> Ranked | None:
    """The better step that shows most of the lines, where better ones show all of them."""
    counts: Counter[int] = Counter()
    best = None
    for line in lines:
        better = shown.get(line)
        if better is None:
            return None
        counts[id(better)] += 1
        if best is None or counts[id(better)] > counts[id(best)]:
            best = better
    return best


def without_alike(ranking: Iterable[Ranked], equal: Iterable[Repeat]) -> Distinct:
    """Keeps the best of the candidates of one author that say the same in nearly the same words.

    `equal` are other authors' copies: what is alike to its author's copy is alike to the kept one.
    """
    copies: defaultdict[int, list[Ranked]] = defaultdict(list)
    for repeat in equal:
        copies[id(repeat.of)].append(repeat.ranked)
    wordings: defaultdict[Hashable, Wordings[Ranked]] = defaultdict(Wordings)
    distinct = Distinct([], [])
    for ranked in ranking:
        wording, own = read(ranked.candidate.text), wordings[_source(ranked)]
        first = own.first_that_says(wording)
        if first is None or first.candidate.id == ranked.candidate.id:
            own.add(wording, ranked)
            for copy in copies.get(id(ranked), ()):
                wordings[_source(copy)].add(wording, ranked)
            distinct.kept.append(ranked)
        else:
            distinct.repeats.append(Repeat(ranked, first))
    return distinct


def _source(ranked: Ranked) -> Hashable:
    candidate = ranked.candidate
    return (
        ranked.store,
        candidate.scope,
        author(candidate.agent, candidate.speaker),
        candidate.user_id,
        doubt(candidate.source_kind, candidate.source_claim),
    )


def joined(equal: Iterable[Repeat], alike: Sequence[Repeat]) -> list[Repeat]:
    """Both, of candidates that are kept: what equals one that is alike to another is alike to that."""
    kept = {id(repeat.ranked): repeat.of for repeat in alike}
    return [*(Repeat(ranked, kept.get(id(of), of)) for ranked, of in equal), *alike]


def marks(kept: Ranked, repeats: Sequence[Ranked]) -> list[str]:
    """What the header of an item says of those that say the same: how many they are, and who else wrote them."""
    items = {(each.store, each.candidate.id) for each in (kept, *repeats)}
    if len(items) == 1:
        return []
    authors = dict.fromkeys(filter(None, (_author(each.candidate) for each in repeats)))
    others = [name for name in authors if name != _author(kept.candidate)]
    names = ", ".join(others[:_MOST_AUTHORS])
    more = f" and {len(others) - _MOST_AUTHORS} more" if len(others) > _MOST_AUTHORS else ""
    return [f"×{len(items)}", f"also {names}{more}" if names else ""]


def _voice(candidate: Candidate) -> Hashable:
    return candidate.user_id, doubt(candidate.source_kind, candidate.source_claim)


def _author(candidate: Candidate) -> str | None:
    return author(candidate.agent, candidate.speaker)


def text_key(candidate: Candidate) -> str:
    """Equal for texts that differ only in spaces and case."""
    return _key(candidate.text)


@remembered
def _key(text: str) -> str:
    return " ".join(text.split()).casefold()
