"""Chooses the candidates of a block. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from services.context import stores
from services.context.assembly import ranking, rendering
from services.context.assembly.ranking import Ranked
from services.context.assembly.rendering import File, ProfileItem
from services.context.assembly.supersession.former import with_former_values
from services.context.assembly.supersession.newest import Superseded, without_superseded
from services.context.assembly.supersession.repeats import Repeat, joined, marks, without_alike, without_equal
from services.context.log.replay import BACKGROUND, GIVEN
from services.context.stores import LINKS, PROFILES, Source
from shared import packing
from shared.packing import BELOW_CUT, HEADER_CHARACTERS, NOT_PACKED, Packed
from shared.reading.excerpts import Passages, Wanted
from shared.render import Fence, with_header
from shared.search.evidence import Candidate
from shared.search.relevance import Scored
from shared.tokens import CHARACTERS_PER_TOKEN, width


class Placed(NamedTuple):
    """A candidate's outcome. `rendered` is its text in the block, or None."""

    ranked: Ranked
    tokens: int
    """Tokens of the whole item, estimated if it was never rendered."""
    taken: int
    outcome: str
    rendered: str | None
    excerpt: bool = False
    """`rendered` holds passages of the item, but not its beginning."""
    repeats: Sequence[Ranked] = ()
    """The candidates that say the same."""


class Chosen(NamedTuple):
    """The outcome of each candidate, best first. What is superseded or says the same is separate."""

    placed: list[Placed]
    superseded: list[Superseded]
    repeats: list[Repeat]
    fence: Fence

    @property
    def taken(self) -> list[Placed]:
        return [placed for placed in self.placed if placed.taken]

    @property
    def tokens(self) -> int:
        return sum(placed.taken for placed in self.placed)

    @property
    def block(self) -> str:
        return "\n".join(placed.rendered for placed in self.placed if placed.rendered is not None)

    def accesses(self) -> Iterator[tuple[str, int]]:
        """What is in the block of stores whose owners count it."""
        for placed in self.taken:
            if placed.outcome == BACKGROUND:
                continue
            store = stores.BY_NAME.get(placed.ranked.store)
            if store is not None and store.counts_accesses:
                yield store.name, placed.ranked.candidate.id

    def scopes(self) -> Iterable[str]:
        """The candidates' scopes. Files have none."""
        superseded = (older.ranked for older in self.superseded)
        repeats = (repeat.ranked for repeat in self.repeats)
        for ranked in (*(placed.ranked for placed in self.placed), *superseded, *repeats):
            if ranked.store != LINKS.name:
                yield from ranked.candidate.scopes


def choose(
    scored: Sequence[Scored],
    weights: Mapping[str, float],
    shares: Mapping[str, float],
    tokens: int,
    fence: Fence,
    files: Sequence[File] = (),
    profiles: Sequence[ProfileItem] = (),
    *,
    words: Mapping[str, float] | None = None,
    fill: bool = False,
    known: Collection[str] = (),
) -> Chosen:
    """Profiles come first, then linked files, each within their share of the budget, then search results, best first.

    Results that are far from the best stay out, unless `fill` asks for whatever fits. What an item supersedes is
    noted in its header if it is near the best, too. `words` are the question's lexemes with their weights: a result
    that does not fit whole keeps the passages that hold them. What the session has by now (`known` handles) stays out,
    though it still supersedes others and stands for those that say the same.
    """
    wanted = Wanted(words or {})
    given = [*_given(PROFILES, profiles, tokens, fence), *_given(LINKS, files, tokens, fence)]
    left = tokens - sum(placed.taken for placed in given)
    current = without_superseded(ranking.rank(scored, weights, fence.now))
    found = without_equal(current.kept)
    least = 0.0 if fill else ranking.cut(found.kept, tokens)
    near = without_alike((ranked for ranked in found.kept if ranked.relevance >= least), found.repeats)
    repeats = joined(found.repeats, near.repeats)
    # What would be near the best, too, if nothing superseded it.
    former_least = (
        0.0 if fill else ranking.cut([*found.kept, *(older.ranked for older in current.superseded)], tokens)
    )
    former = [older for older in current.superseded if older.ranked.relevance >= former_least]
    held, fresh = _parted(with_former_values(near.kept, former), found.repeats, known)
    items = _items(fresh, repeats, fence, wanted)
    placed = _placed(items, packing.pack(items, left, {**stores.TOKEN_SHARES, **shares}))
    far = [_out(ranked, BELOW_CUT) for ranked in found.kept if ranked.relevance < least]
    return Chosen(
        [*given, *placed, *(_out(ranked, GIVEN) for ranked in held), *far], current.superseded, repeats, fence
    )


def _parted(
    kept: Sequence[Ranked], equal: Iterable[Repeat], known: Collection[str]
) -> tuple[list[Ranked], list[Ranked]]:
    """What the session has, or has in the same words under another handle; and what it does not have."""
    if not known:
        return [], list(kept)
    said = {_place(repeat.of) for repeat in equal if rendering.handle(repeat.ranked) in known}
    held = [ranked for ranked in kept if rendering.handle(ranked) in known or _place(ranked) in said]
    places = set(map(_place, held))
    return held, [ranked for ranked in kept if _place(ranked) not in places]


def _items(kept: Iterable[Ranked], repeats: Iterable[Repeat], fence: Fence, wanted: Wanted) -> list[_Item]:
    same: defaultdict[tuple[str, int, int], list[Ranked]] = defaultdict(list)
    for repeat in repeats:
        same[_place(repeat.of)].append(repeat.ranked)
    return [_Item(ranked, fence, wanted, same.get(_place(ranked), ()) if same else ()) for ranked in kept]


def _place(ranked: Ranked) -> tuple[str, int, int]:
    return ranked.store, ranked.candidate.id, ranked.candidate.chunk


def _out(ranked: Ranked, outcome: str) -> Placed:
    return Placed(ranked, _estimate(ranked.candidate.text), 0, outcome, None)


def _given(source: Source, texts: Sequence[Candidate], tokens: int, fence: Fence) -> list[Placed]:
    """What nobody searched for, within its source's share of the budget."""
    items = [
        _Item(Ranked(Scored(source.name, text, 1.0, 1.0, 1.0, 1.0), 1.0, 1.0, 1.0, 1.0, 1.0), fence)
        for text in texts
    ]
    return _placed(items, packing.pack_evenly(items, int(tokens * source.token_share)))


class _Item:
    """A candidate during packing. Once rendered whole, it knows its size."""

    __slots__ = (
        "_fence",
        "_header",
        "_passages",
        "_wanted",
        "_whole",
        "ranked",
        "repeats",
        "store",
        "text",
        "worth",
    )

    def __init__(
        self,
        ranked: Ranked,
        fence: Fence,
        wanted: Wanted | None = None,
        repeats: Sequence[Ranked] = (),
    ) -> None:
        self.ranked = ranked
        self.repeats = repeats
        self.store = ranked.store
        self.text = ranked.candidate.text
        self.worth = ranked.score
        self._fence = fence
        self._wanted = wanted
        self._passages: Passages | None = None
        self._header = ""
        self._whole = ""

    def shorten(self, characters: int) -> str:
        """The beginning, if it was not searched for."""
        if self._wanted is None:
            return packing.shorten(self.text, characters)
        if self._passages is None:
            self._passages = Passages(self.text, self._wanted)
        return self._passages.excerpt(characters)

    def render(self, text: str) -> str:
        if not self._header:
            noted = marks(self.ranked, self.repeats) if self.repeats else ()
            self._header = rendering.header(self.ranked, self._fence, noted)
        rendered = with_header(self._header, text)
        if text is self.text:
            self._whole = rendered
        return rendered

    def size(self) -> int:
        return packing.tokens_of_line(self._whole) if self._whole else _estimate(self.text)


def _estimate(text: str) -> int:
    """The tokens of a whole item that is never rendered."""
    return -(-(width(text) + HEADER_CHARACTERS) // CHARACTERS_PER_TOKEN)


def _placed(items: Sequence[_Item], packed: Iterable[Packed]) -> list[Placed]:
    pieces = {piece.place: piece for piece in packed}
    return [
        Placed(
            item.ranked,
            item.size() if piece.cut else piece.tokens,
            piece.tokens,
            piece.outcome,
            piece.rendered,
            piece.excerpt,
            item.repeats,
        )
        if (piece := pieces.get(place))
        else Placed(item.ranked, item.size(), 0, NOT_PACKED, None)
        for place, item in enumerate(items)
    ]
