"""Questions that the rest of a session asks of its past. Pure, and the same each time.

A question comes from what a later turn mentions: a name defined before, a file whose path was seen, an error, a
sentence that decided something. What it expects occurs word for word in the past, and not in the question.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from bench.demo.transcript import (
    READS,
    Event,
    base,
    definitions,
    error_name,
    errors,
    normal,
    paths,
    sentences,
    whole,
)

KINDS = ("definition", "decision", "request", "error", "path")
MOST = 20
_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w{2,}\b")
_FILE = re.compile(r"\b[\w-]+\.[A-Za-z]\w{0,5}\b")
_WORD = re.compile(r"[A-Za-z_][\w.-]{3,}[\w]")
_COMMON = frozenset(
    """about above after again against also another because been before being below between both cannot could does
    doing down each from further have having here into itself just like make more most need needs only other ours
    over same should some such than that their them then there these they this those through under until using very
    want were what when where which while will with would your file files code test tests python line lines
    """.split()  # noqa: SIM905
)
# What a definition's line must say besides the name to be worth knowing.
_LEAST_NEWS = 12
_SENTENCE_LENGTHS = range(40, 320)


class Question(NamedTuple):
    """`turn` is the later event that has need of it."""

    kind: str
    text: str
    expected: str
    turn: int


def ask(past: Sequence[Event], future: Sequence[Event]) -> list[Question]:
    """At most MOST, the kinds by turns, each in the order in which the later turns come to need it."""
    seen = normal(whole(past))
    found = [
        *_definitions(past, future),
        *_sentences(past, future, "assistant"),
        *_sentences(past, future, "user"),
        *_errors(past, future),
        *_paths(past, future),
    ]
    fit = list(_fit(found, seen))
    queues = {kind: [one for one in fit if one.kind == kind] for kind in KINDS}
    chosen: list[Question] = []
    while len(chosen) < MOST and any(queues.values()):
        chosen += [queue.pop(0) for queue in queues.values() if queue]
    return chosen[:MOST]


def _fit(found: Iterable[Question], seen: str) -> Iterator[Question]:
    known: set[str] = set()
    for one in found:
        expected = normal(one.expected)
        if expected in seen and expected not in known and expected not in normal(one.text):
            known.add(expected)
            yield one._replace(expected=expected)


def _said_by_agent(future: Sequence[Event]) -> Iterator[Event]:
    """What the agent itself says and calls; results mention everything."""
    return (event for event in future if event.kind in ("assistant", "tool_call"))


def _definitions(past: Sequence[Event], future: Sequence[Event]) -> Iterator[Question]:
    places: dict[str, dict[str, str]] = {}
    for event in past:
        if event.kind != "assistant":
            for one in definitions(event.text):
                if len(one.signature) - len(one.name) >= _LEAST_NEWS + len("class :"):
                    places.setdefault(one.name, {}).setdefault(one.signature, event.path or "")
    for event in _said_by_agent(future):
        own = {one.name for one in definitions(event.text)} - _edited(event)
        for name in dict.fromkeys(_IDENTIFIER.findall(event.text)):
            known = places.get(name, {})
            if len(known) == 1 and name not in own and _is_name(name, event.text):
                signature, path = next(iter(known.items()))
                where = f" in {base(path)}" if path else ""
                yield Question("definition", f"How is {name} defined{where}?", signature, event.seq)


def _edited(event: Event) -> set[str]:
    """Names whose definition an edit had to know to replace it."""
    return {one.name for one in definitions(str(event.arguments.get("old_string", "")))}


def _is_name(word: str, text: str) -> bool:
    """A word that is code here, not prose."""
    return "_" in word.strip("_") or bool(re.search(r"[a-z][A-Z]", word)) or f"{word}(" in text


def _paths(past: Sequence[Event], future: Sequence[Event]) -> Iterator[Question]:
    known: dict[str, set[str]] = {}
    for path in paths(whole(past)):
        if path.startswith(("/", "http")) and path.count("/") > 1 and _FILE.fullmatch(base(path)):
            known.setdefault(base(path), set()).add(path)
    for event in _said_by_agent(future):
        for name in dict.fromkeys(_FILE.findall(event.text)):
            if len(known.get(name, ())) == 1:
                yield Question("path", f"Where is {name}?", next(iter(known[name])), event.seq)


def _errors(past: Sequence[Event], future: Sequence[Event]) -> Iterator[Question]:
    happened = [
        line
        for event in past
        if event.kind == "tool_result" and event.tool.lower() not in READS
        for line in errors(event.text)
        if error_name(line)
    ]
    for event in _said_by_agent(future):
        words = set(_IDENTIFIER.findall(event.text))
        for line in happened:
            name = error_name(line)
            message = [word for word in _IDENTIFIER.findall(line) if word != name and len(word) > 3]
            if name in words or len(set(message) & words) > 1:
                yield Question("error", f"What did the {name} say?", line, event.seq)


def _sentences(past: Sequence[Event], future: Sequence[Event], speaker: str) -> Iterator[Question]:
    """For each later turn the earlier sentence of the user or the agent that shares its rarest words."""
    kind, verb = ("request", "asked for") if speaker == "user" else ("decision", "decided or found")
    said = [
        sentence
        for event in past
        if event.kind == speaker
        for sentence in sentences(event.text)
        if len(sentence) in _SENTENCE_LENGTHS
    ]
    if not said:
        return
    frequency = Counter(word for sentence in said for word in _words(sentence))
    rarity = {word: math.log(1 + len(said) / count) for word, count in frequency.items()}
    for event in _said_by_agent(future):
        wanted = _words(event.text)
        best = max(said, key=lambda sentence: sum(rarity[word] for word in _words(sentence) & wanted))
        shared = sorted(_words(best) & wanted, key=lambda word: (-rarity[word], word))
        if len(shared) > 1:
            *others, last = shared[:3]
            text = f"What was {verb} about {', '.join(others)} and {last}?"
            yield Question(kind, text, best, event.seq)


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text)) - _COMMON
