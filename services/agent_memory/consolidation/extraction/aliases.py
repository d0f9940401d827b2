"""Other names that sentences give somebody or something. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from services.agent_memory.consolidation.extraction.parties import states_of_itself
from services.agent_memory.consolidation.extraction.saying import Said
from services.agent_memory.consolidation.learned import LearnedAlias, Source
from shared.sentences.triples import NAME, is_name

_ALSO = r"(?:also (?:called|known as)|better known as|known as|aka|a\.k\.a\.|nicknamed)"
_MEANS = r"(?:is short for|stands for|is another name for|is a nickname for)"
_ALIAS, _ENTITY = rf"(?P<alias>{NAME})", rf"(?P<entity>{NAME})"
_OF_NAME = (
    re.compile(rf"\b{_ENTITY},? \(?{_ALSO},? {_ALIAS}"),
    re.compile(rf"\b{_ALIAS} {_MEANS} (?:the )?{_ENTITY}"),
    re.compile(rf"\b(?:[Ww]e|[Pp]eople|[Ee]veryone|[Ee]verybody) (?:all )?calls? {_ENTITY} {_ALIAS}"),
    re.compile(rf"\b{_ENTITY} goes by {_ALIAS}"),
)
_OF_SPEAKER = re.compile(
    rf"\b(?:(?:call me|calls? me|address me as|[Ii] go by|[Ii]['’]m also (?:called|known as)|my nickname is)) {_ALIAS}"
)
_INITIALS = re.compile(rf"\b(?P<entity>{NAME}) \((?P<alias>[A-Z][A-Z0-9]{{1,9}})\)")


def aliases(said: Sequence[Said], source: Source) -> Iterator[LearnedAlias]:
    for sentence in said:
        if sentence.is_question or sentence.doubts or sentence.denies:
            continue
        speaker = sentence.who if sentence.quoted else states_of_itself(sentence.turn, source)
        for alias, entity in _pairs(sentence.text, speaker):
            if _fit(alias, entity):
                turn = sentence.turn
                yield LearnedAlias(turns=(turn.position,), trust=turn.trust, alias=alias, entity=entity)


def _pairs(text: str, speaker: str | None) -> Iterator[tuple[str, str]]:
    for pattern in _OF_NAME:
        for match in pattern.finditer(text):
            yield _plain(match["alias"]), _plain(match["entity"])
    for match in _INITIALS.finditer(text):
        entity = match["entity"].removeprefix("The ")
        if _initials(entity) == match["alias"]:
            yield match["alias"], entity
    if speaker is not None:
        for match in _OF_SPEAKER.finditer(text):
            yield _plain(match["alias"]), speaker


def _plain(name: str) -> str:
    return name.rstrip(".,;!")


def _initials(name: str) -> str:
    return "".join(word[0] for word in name.split() if word[0].isupper())


def _fit(alias: str, entity: str) -> bool:
    return (is_name(alias) or alias.isupper()) and is_name(entity) and alias.casefold() != entity.casefold()
