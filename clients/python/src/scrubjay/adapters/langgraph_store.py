"""LangGraph: a store of items as files of the vault. `pip install scrubjay[langgraph]`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from scrubjay.adapters.files import Files, label_of, step_of
from scrubjay.adapters.sending import AnyClient, Sender, Steps

_END = ".json"
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "$eq": lambda value, other: value == other,
    "$ne": lambda value, other: value != other,
    "$gt": lambda value, other: float(value) > float(other),
    "$gte": lambda value, other: float(value) >= float(other),
    "$lt": lambda value, other: float(value) < float(other),
    "$lte": lambda value, other: float(value) <= float(other),
}


class Place(NamedTuple):
    namespace: tuple[str, ...]
    key: str


class ScrubjayStore(BaseStore):
    """Items of an agent, a mission or a user, or those that the tenant shares: search and assembly find them, too.

    A query is answered by words and meaning, best first, and then with what else is there. Of a client that awaits,
    only the methods that await can be used. `index=False` keeps an item out of answers to queries. A choice of
    fields is not heeded: what is found is the item.
    """

    def __init__(
        self,
        client: AnyClient,
        *,
        agent: str | None = None,
        mission: str | None = None,
        user: str | None = None,
        folder: str = "langgraph",
    ) -> None:
        self._sender = Sender(client)
        self._files = Files(folder, agent=agent, mission=mission, user=user)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._sender.run(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._sender.arun(self._batch(list(ops)))

    def _batch(self, ops: Sequence[Op]) -> Steps[list[Result]]:
        """What is read was there before the batch; of writes to a place, the last one counts."""
        for op in ops:
            validate_op_namespace(op)
        results: list[Result] = []
        puts: dict[Place, PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                puts[Place(op.namespace, op.key)] = op
                results.append(None)
            else:
                results.append((yield from self._answer(op)))
        yield from self._put(puts)
        return results

    def _answer(self, op: GetOp | SearchOp | ListNamespacesOp) -> Steps[Result]:
        if isinstance(op, GetOp):
            items = yield from self._items([Place(op.namespace, op.key)])
            return items[0]
        if isinstance(op, SearchOp):
            found: Result = yield from self._search(op)
            return found
        return (yield from self._namespaces(op))

    def _put(self, puts: Mapping[Place, PutOp]) -> Steps[None]:
        kept = [place for place, op in puts.items() if op.value is not None]
        before = yield from self._items(kept)
        now = datetime.now(UTC)
        texts = {
            _path(place): _text(puts[place], now if item is None else item.created_at, now)
            for place, item in zip(kept, before, strict=True)
        }
        yield from self._files.write(texts)
        yield from self._files.remove([_path(place) for place, op in puts.items() if op.value is None])

    def _items(self, places: Sequence[Place]) -> Steps[list[SearchItem | None]]:
        texts = yield from self._files.read([_path(place) for place in places])
        return [
            None if text is None else _item(place, json.loads(text), None)
            for place, text in zip(places, texts, strict=True)
        ]

    def _search(self, op: SearchOp) -> Steps[list[SearchItem]]:
        """Only as many are read as are asked for, where no filter asks for more."""
        scores: dict[Place, float] = {}
        beginning = _folder(op.namespace_prefix)
        if op.query:
            listed = yield from self._files.settled(beginning)
            found = yield from self._files.search(op.query, beginning)
            scores = {_place(self._files.below(each.path)): each.score for each in found}
        else:
            listed = yield from self._files.listed(beginning)
        newest = sorted(listed, key=lambda file: file.created_at, reverse=True)
        others = [place for file in newest if (place := _place(self._files.below(file.path))) not in scores]
        places, last = [*scores, *others], op.offset + op.limit
        wanted = places if op.filter or op.query else places[:last]
        texts = yield from self._files.read([_path(place) for place in wanted])
        items: list[SearchItem] = []
        hidden: list[SearchItem] = []
        for place, text in zip(wanted, texts, strict=True):
            told = None if text is None else json.loads(text)
            if told is None or not _matches(told["value"], op.filter or {}):
                continue
            unasked = bool(op.query) and not told.get("index", True)
            score = scores.get(place, 0.0) if op.query and not unasked else None
            (hidden if unasked else items).append(_item(place, told, score))
        return [*items, *hidden][op.offset : last]

    def _namespaces(self, op: ListNamespacesOp) -> Steps[list[tuple[str, ...]]]:
        listed = yield from self._files.listed()
        found = {_place(self._files.below(file.path)).namespace for file in listed}
        conditions = op.match_conditions or ()
        matched = {one[: op.max_depth] for one in found if all(_is_of(one, each) for each in conditions)}
        return sorted(matched)[op.offset : op.offset + op.limit]


def _text(op: PutOp, created_at: datetime, now: datetime) -> str:
    told: dict[str, Any] = {
        "value": dict(op.value or {}),
        "created_at": created_at.isoformat(),
        "updated_at": now.isoformat(),
    }
    if op.index is False:
        told["index"] = False
    text = json.dumps(told, ensure_ascii=False, indent=1)
    halves = not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text)
    return json.dumps(told, indent=1) if halves else text


def _item(place: Place, told: dict[str, Any], score: float | None) -> SearchItem:
    created_at, updated_at = (datetime.fromisoformat(told[name]) for name in ("created_at", "updated_at"))
    return SearchItem(place.namespace, place.key, told["value"], created_at, updated_at, score)


def _path(place: Place) -> str:
    return f"{_folder(place.namespace)}{step_of(place.key)}{_END}"


def _folder(namespace: tuple[str, ...]) -> str:
    return "".join(f"{step_of(label)}/" for label in namespace)


def _place(path: str) -> Place:
    *labels, key = path.removesuffix(_END).split("/")
    return Place(tuple(map(label_of, labels)), label_of(key))


def _is_of(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(asked in ("*", label) for asked, label in zip(path, part, strict=True))


def _matches(value: Any, wanted: Any) -> bool:
    """Raises ValueError for an operator that LangGraph does not name."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_compares(value, name, other) for name, other in wanted.items())
        return isinstance(value, Mapping) and all(
            _matches(value.get(name), other) for name, other in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(map(_matches, value, wanted))
        )
    return bool(value == wanted)


def _compares(value: Any, operator: str, other: Any) -> bool:
    if operator not in _COMPARE:
        raise ValueError(f"Unsupported operator: {operator}")
    return bool(_COMPARE[operator](value, other))
