"""Promises with a day: who owes what to whom by when. Pure.

A wish, a condition, a guess, a question or a refusal is no promise, and neither is what happens by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from services.agent_memory.consolidation.extraction.parties import Parties
from services.agent_memory.consolidation.extraction.saying import Said
from services.agent_memory.consolidation.learned import LearnedCommitment
from shared.sentences.due import due
from shared.sentences.triples import NAME, OPENING, is_name

_NO_DEED = (
    r"(?! (?:an?|the|my|our|[A-Z]\w{0,40}|not|never|be able|be \d"
    r"|be (?:busy|away|late|out|off|on holiday|on vacation|gone|happy|glad|sad|tired)|see"
    r"|miss|need|have to|know|regret|love|hate|feel|forget|remember|turn \d|celebrate|always|still|end up)\b)"
)
_MINE = re.compile(
    r"\bI(?:['’]ll| will| shall|['’]m going to|['’]m gonna| am going to| (?:promise|swear|pledge|vow)(?: you)? to"
    rf"| commit to)\b{_NO_DEED}(?: (?:definitely|certainly|surely|also|then|just|gladly|happily))?{_NO_DEED}",
)
_FROM_ME = re.compile(
    r"\b[Yy]ou(?:['’]ll| will) (?:have|get|receive|hear)\b(?=.{1,200}(?:\bfrom me\b|\bI promise\b))"
)
_DEED = (
    r"(?:send|bring|call|phone|email|e-mail|text|write|review|fix|finish|deliver|return|pay|book|pick|drop|submit"
    r"|prepare|share|ship|deploy|update|check|confirm|meet|come|visit|clean|repair|post|buy|order|organi[sz]e|host"
    r"|handle|complete|provide|sign|upload|make|cook|take|give|show|help|get back|let|draft|present|migrate|merge"
    r"|release|test|investigate|reply|answer|arrange|schedule|set up|transfer|print|hand)"
)
_SHE_WILL = r"(?:she|he|they)(?:['’]ll| will)"
_OTHERS = re.compile(
    rf"^{OPENING}(?P<who>{NAME})(?: will|['’]ll| is going to"
    r"| (?:has )?(?:promised|agreed|committed|offered)(?: (?:me|us|you))? to"
    rf"| (?:said|says|told (?:me|us)|promised(?: (?:me|us))?)(?: that)? {_SHE_WILL})"
    rf" (?:definitely |also |then )?{_DEED}\b"
)


def promises(said: Sequence[Said], parties: Parties) -> Iterator[LearnedCommitment]:
    """In the order of the sentences."""
    for sentence in said:
        if not (sentence.is_question or sentence.doubts):
            yield from _of_sentence(sentence, parties)


def _of_sentence(sentence: Said, parties: Parties) -> Iterator[LearnedCommitment]:
    other = _other(sentence)
    if other is not None:
        yield from _commitment(sentence, sentence.text, other, None)
        return
    clauses = [sentence] if _FROM_ME.search(sentence.text) else sentence.clauses()
    for clause in clauses:
        if _MINE.search(clause.text) or _FROM_ME.search(clause.text):
            owed_to = None if clause.quoted else parties.other_than(clause)
            yield from _commitment(sentence, clause.text, parties.who(clause), owed_to)


def _other(sentence: Said) -> str | None:
    match = _OTHERS.match(sentence.text)
    if match is None or sentence.denies or not is_name(match["who"]):
        return None
    return match["who"]


def _commitment(
    sentence: Said, promised: str, who: str | None, to: str | None
) -> Iterator[LearnedCommitment]:
    """A promise without the one day by which it is due is none."""
    at = due(promised, sentence.turn.at)
    if at is not None and at > sentence.turn.at and who is not None:
        yield LearnedCommitment(
            turns=(sentence.turn.position,),
            trust=sentence.turn.trust,
            content=sentence.text,
            said_at=sentence.turn.at,
            due_at=at,
            owed_by=who,
            owed_to=to,
        )
