"""Facts that the sentences of turns state. Pure.

A question, a condition, a guess or a denial states none. A clause states at most one, by the first rule that it
matches, and besides whom it names: "my dog Rex".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from services.agent_memory.consolidation.extraction.parties import states_of_itself
from services.agent_memory.consolidation.extraction.patterns import KIN, PET, RULES
from services.agent_memory.consolidation.extraction.saying import Said
from services.agent_memory.consolidation.extraction.tense import at_midnight, days
from services.agent_memory.consolidation.learned import LearnedFact, Source, Turn
from shared.sentences.triples import NAME, Triple, explicit, is_name, stated

MOST = 40
"""Facts of a turn."""
_NAMED = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur|(?:have|got|adopted) an?) (?P<kin>{PET}|{KIN})(?:,? (?:named|called))?,? (?P<name>{NAME})"
)
# They are followed by the name of one person at a time.
_ONE = frozenset(
    (
        "wife",
        "husband",
        "partner",
        "fiancé",
        "fiancée",
        "boyfriend",
        "girlfriend",
        "boss",
        "manager",
        "mentor",
    )
)
_NO_NAME = re.compile(
    r"^(?:I|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun|January|February|March|April|May|June|July|August|September|October"
    r"|November|December|God|OMG|LOL)(?:day)?\b"
)
_SINCE = re.compile(r"\bsince\b")


def facts(said: Sequence[Said], source: Source) -> Iterator[LearnedFact]:
    """Of one turn, in the order of its sentences, each fact once."""
    seen: set[Triple] = set()
    for sentence in said:
        for triple in _of_sentence(sentence, source):
            if triple not in seen and len(seen) < MOST:
                seen.add(triple)
                yield _learned(triple, sentence)


def of_lines(turn: Turn) -> Iterator[LearnedFact]:
    """What lines such as `fact: Ana | works at | Acme` state."""
    for triple in [*explicit(turn.text)][:MOST]:
        yield _fact(triple, turn, turn.at)


def _of_sentence(sentence: Said, source: Source) -> Iterator[Triple]:
    if sentence.is_question or sentence.doubts:
        return
    speaker = sentence.who if sentence.quoted else states_of_itself(sentence.turn, source)
    if speaker is not None:
        yield from _named(sentence.text, speaker)
    for clause in sentence.clauses():
        if not clause.denies:
            triple = stated(clause.text, speaker) or stated(clause.text, speaker, RULES)
            if triple is not None and _holds(triple):
                yield triple


def _named(text: str, speaker: str) -> Iterator[Triple]:
    for match in _NAMED.finditer(text):
        name = re.sub(r"['’]s?$", "", match["name"].rstrip(".,"))
        if not _NO_NAME.match(name) and is_name(name):
            kin = match["kin"]
            yield Triple(speaker, kin if kin in _ONE else f"{kin}'s name", name, kin in _ONE)


def _holds(triple: Triple) -> bool:
    """Whether its names may be names."""
    return not _NO_NAME.match(triple.subject) and triple.subject.casefold() != triple.object.casefold()


def _learned(triple: Triple, sentence: Said) -> LearnedFact:
    turn = sentence.turn
    since = (
        [day for day in days(sentence) if day.first <= turn.at.date()] if _SINCE.search(sentence.text) else []
    )
    return _fact(triple, turn, at_midnight(since[0].first) if len(since) == 1 else turn.at)


def _fact(triple: Triple, turn: Turn, valid_from: datetime) -> LearnedFact:
    return LearnedFact(
        turns=(turn.position,), trust=turn.trust, valid_from=min(valid_from, turn.at), **triple._asdict()
    )
