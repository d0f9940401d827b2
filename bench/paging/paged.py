"""A session whose context is paged, without a server: the policy on its own."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from bench.paging.events import Event, is_read
from services.cache.sessions.paging.batches import Policy, Shown, batch
from services.cache.sessions.paging.fidelity import Level, Move, PagedObject, Sizes, pressure
from services.cache.sessions.paging.partial import Holder, reread
from services.cache.sessions.paging.segmentation import Segment, segment
from services.cache.sessions.paging.segmentation.segments import LARGE
from services.cache.sessions.paging.summaries import stub, summarize
from shared.tokens import estimate_tokens


class PagedSession:
    def __init__(self, budget: int, policy: Policy) -> None:
        self._budget = budget
        self._policy = policy
        self._turn = 0
        self.objects: dict[str, PagedObject] = {}
        self._texts: dict[str, list[Holder]] = {}
        self._lines: dict[str, dict[str, str]] = {}
        self.sent: list[Shown] = []
        """What stands in the context, in its order. Only a batch writes some of it anew."""
        self.batches = 0
        self.moves = 0
        self.faults = 0

    def resident(self, event: Event) -> tuple[int, int]:
        """Characters of what the event shows that stand in the context: in full, and in full or detailed."""
        full = detailed = 0
        for line, level in self._levels(event):
            full += len(line) * (level == Level.FULL)
            detailed += len(line) * (level <= Level.DETAILED)
        return full, detailed

    def admit(self, event: Event) -> None:
        """Lines that an object of the same source holds bring it back; the others become new objects."""
        found = reread(event.text, self._holders(_source(event)))
        for replaced in found.replaced:
            self.objects[replaced.id] = self.objects[replaced.id]._replace(superseded=True)
        for id_ in found.again:
            self._access(self.objects[id_])
        known = {holder.text: holder.id for holder in self._holders(_source(event))}
        for part in segment(found.rest, _path(event)):
            if part.text in known:
                # It stands in the source more than once, or is a piece of a line that is too long for an object.
                self._access(self.objects[known[part.text]])
            else:
                known[part.text] = self._add(event, part)

    def end_turn(self) -> Sequence[Move]:
        made = batch([*self.objects.values()], self.sent, self._budget, self._turn, self._policy)
        self._turn += 1
        if made is None:
            return []
        for move in made.moves:
            self.objects[move.id] = self.objects[move.id]._replace(level=move.after)
        self.sent = [*self.sent[: made.kept], *made.then]
        self.batches += 1
        self.moves += len(made.moves)
        return made.moves

    def prompt(self) -> list[tuple[str, Level, int]]:
        """What is sent, with its tokens. An object that came back stands twice until a batch."""
        return [(id_, level, self.objects[id_].sizes.at(level)) for id_, level in self.sent]

    def tokens(self) -> int:
        return pressure([*self.objects.values()])

    def _levels(self, event: Event) -> Iterator[tuple[str, Level]]:
        known = self._lines.get(_source(event), {})
        for piece in pieces(event.text, known):
            yield piece, self.objects[known[piece]].level if piece in known else Level.EVICTED

    def _add(self, event: Event, part: Segment) -> str:
        id_ = f"{len(self.objects):06}"
        shorter = summarize(part.text, event.key, part.kind)
        tokens = estimate_tokens(part.text)
        line = stub(source=event.key, label=part.label, names=part.name, text=part.text, tokens=tokens)
        sizes = Sizes(
            tokens,
            shorter.detailed and shorter.detailed.tokens,
            shorter.compact and shorter.compact.tokens,
            min(tokens, estimate_tokens(line)),
        )
        kind = "file_context" if is_read(event) else "tool_result"
        source = _source(event)
        self.objects[id_] = PagedObject(
            id_, kind, Level.FULL, sizes, False, False, self._turn, 0, source=source
        )
        if event.key is not None:
            self._texts.setdefault(_source(event), []).append(Holder(id_, part.text))
            lines = self._lines.setdefault(_source(event), {})
            lines.update(dict.fromkeys(part.text.splitlines(keepends=True), id_))
        self.sent.append(Shown(id_, Level.FULL))
        return id_

    def _access(self, known: PagedObject) -> None:
        if known.level != Level.FULL:
            self.faults += 1
            self.sent.append(Shown(known.id, Level.FULL))
        self.objects[known.id] = known._replace(
            level=Level.FULL, last_access=self._turn, accesses=known.accesses + 1, superseded=False
        )

    def _holders(self, source: str) -> list[Holder]:
        return self._texts.get(source, [])


def pieces(text: str, known: Container[str]) -> Iterator[str]:
    """The lines of a text. One that is too long for an object, in the pieces that objects hold."""
    for line in text.splitlines(keepends=True):
        yield from [line] if line in known or len(line) <= LARGE else (part.text for part in segment(line))


def _source(event: Event) -> str:
    return event.key or event.kind


def _path(event: Event) -> str | None:
    return event.key if event.kind == "tool_result" else None
