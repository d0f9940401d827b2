"""What of a message is a fact: subject, predicate and object. Pure.

The rules understand English and take a sentence only if all of it is the statement: a doubtful one is left out. "I"
and "my" are whoever said it. Lines such as `fact: Ana | works at | Acme` state any triple.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# A longer text mentions facts among other things.
_SHORT = 600
LONGEST = 200
"""Characters of a sentence."""
_MOST = 10
"""Facts of a message."""

SENTENCE = re.compile(r"[^.!?\n]++(?:\.(?=\w)[^.!?\n]*+)*+[.!?]?")
OPENING = r"(?i:(?:hi|hello|hey|yes|yeah|ok|okay|well|also|and|so|by the way|btw|fyi),? )?"
UPPER = r"[A-Z][\w'’&.-]{0,40}"
NAME = rf"{UPPER}(?: (?:(?:of|de|da|del|van|von|the|and|&) )?{UPPER}){{0,4}}"
# Capitalised at the beginning of a sentence.
_NO_NAMES = frozenset(
    (
        *(
            "a",
            "all",
            "an",
            "another",
            "any",
            "anybody",
            "anyone",
            "anything",
            "both",
            "each",
            "either",
            "every",
        ),
        *(
            "everybody",
            "everyone",
            "everything",
            "few",
            "he",
            "her",
            "here",
            "hers",
            "him",
            "his",
            "how",
            "i",
            "if",
        ),
        *(
            "it",
            "its",
            "many",
            "maybe",
            "mine",
            "most",
            "much",
            "my",
            "neither",
            "no",
            "nobody",
            "none",
            "nothing",
        ),
        *(
            "now",
            "one",
            "our",
            "ours",
            "perhaps",
            "several",
            "she",
            "some",
            "somebody",
            "someone",
            "something",
        ),
        *(
            "such",
            "that",
            "the",
            "their",
            "theirs",
            "them",
            "then",
            "there",
            "these",
            "they",
            "this",
            "those",
        ),
        *("today", "tomorrow", "tonight", "us", "we", "what", "whatever", "when", "where", "which", "who"),
        *("whoever", "whose", "why", "yesterday", "you", "your", "yours"),
    )
)
_WORD = re.compile(r"\w+")
_GOES_ON = re.compile(r"\b(?:is|are|was|were|has|have|but|because|which|who|that|not|never|and I|and we)\b")
ROLES = (
    r"(?:owner|author|maintainer|founder|co-founder|ceo|cto|cfo|head|director|manager|lead|leader|boss|captain|capital"
    r"|mayor|president|editor|wife|husband|partner|brother|sister|mother|father|son|daughter|mentor|assistant|deputy"
    r"|successor|predecessor|on-call engineer|product owner|tech lead)"
)
PEOPLE = (
    r"(?:wife|husband|partner|fianc[eé]e?|spouse|boss|manager|supervisor|mentor|doctor|therapist|landlord|team lead"
    r"|(?:best friend|mother|mom|mum|father|dad|brother|sister|son|daughter|dog|cat|pet|wife|husband|partner|boss"
    r"|manager)['’]s name|name|full name|first name|last name|surname|nickname|employer|company|hometown|home town"
    r"|home city|city|country|nationality|native language|mother tongue)"
)
NUMBERS = (
    r"(?:time ?zone|birthday|date of birth|phone number|e-?mail(?: address)?|employee number"
    r"|github (?:handle|username))"
)
THINGS = (
    r"(?:owner|maintainer|author|lead|tech lead|manager|on-call engineer|port|default port|version|current version"
    r"|latest version|url|address|hostname|region|primary region|default branch|deadline|release date|licen[cs]e"
    r"|capital|budget|codename|code name|repository)"
)
# Whole values: a name, or what holds a digit or an @.
FIRM = (
    rf"(?:(?:the )?{NAME}|(?=[^ ]{{0,80}}[\d@])[\w@+#:/.-]{{1,80}}(?: [\w+-]{{1,20}}){{0,2}}"
    r"|[A-Z]\w{1,20}/[A-Z]\w{1,30}|https?://\S{1,80})"
)
DATE = r"(?=.{0,40}\d)[A-Z0-9][\w ,/.-]{2,40}"
_END = r"(?:,? (?:now|these days|at the moment|currently|by the way|too))?[.!]?$"


class Triple(NamedTuple):
    subject: str
    predicate: str
    object: str
    single: bool
    """The predicate has one value at a time."""


class Rule(NamedTuple):
    """`pattern` matches a whole sentence. Without the group `subject`, it is about who says it."""

    pattern: re.Pattern[str]
    predicate: str | None = None
    """None: the group `predicate` is."""
    single: bool = True


def rule(pattern: str, predicate: str | None = None, *, single: bool = True, end: str = _END) -> Rule:
    return Rule(re.compile(rf"^{OPENING}{pattern}{end}"), predicate, single)


_I_AM = r"(?:I am|I'm|I’m)"
_HE_IS = rf"(?P<subject>{NAME}) is"
_OBJECT = rf"(?P<object>(?:the )?{NAME})"
_RULES = (
    rule(rf"[Mm]y (?P<predicate>{PEOPLE}) is(?: now)? (?P<object>{NAME})"),
    rule(rf"[Mm]y (?P<predicate>{NUMBERS}) is(?: now)? (?P<object>{FIRM}|{DATE})"),
    rule(
        r"[Mm]y (?P<predicate>(?:favou?rite|preferred) \w{2,30}(?: \w{2,30})?) is"
        r" (?P<object>(?!(?:that|to|when|if|because|not|how|what|the one|a bit|so|very)\b)[\w'’&.+#-]{1,40}"
        r"(?: [\w'’&.+#-]{1,40}){0,3})"
    ),
    rule(rf"(?:I|i) work (?:at|for) {_OBJECT}", "works at"),
    rule(r"I work as an? (?P<object>[a-z][\w-]{2,30}(?: [a-z][\w-]{2,30}){0,2})", "works as"),
    rule(rf"I (?:live|am living) in {_OBJECT}", "lives in"),
    rule(rf"{_I_AM} (?:based|living) in {_OBJECT}", "lives in"),
    rule(rf"(?:{_I_AM} from|I come from) {_OBJECT}", "is from"),
    rule(rf"I was born in (?P<object>{NAME}|(?:19|20)\d\d)", "born in"),
    rule(rf"{_I_AM} married to (?P<object>{NAME})", "is married to"),
    rule(rf"(?P<subject>{NAME}) works (?:at|for) {_OBJECT}", "works at"),
    rule(rf"(?P<subject>{NAME}) lives in {_OBJECT}", "lives in"),
    rule(rf"{_HE_IS} from {_OBJECT}", "is from"),
    rule(rf"{_HE_IS} based in {_OBJECT}", "lives in"),
    rule(rf"(?P<subject>{NAME}) was born in (?P<object>{NAME}|(?:19|20)\d\d)", "born in"),
    rule(rf"{_HE_IS} married to (?P<object>{NAME})", "is married to"),
    rule(
        rf"{_HE_IS} (?:the |an? )(?P<predicate>{ROLES} of) (?P<object>(?:the )?{NAME}|the \w[\w-]{{1,30}}"
        rf"(?: \w[\w-]{{1,30}}){{0,2}})",
        single=False,
    ),
    rule(
        rf"[Tt]he (?P<predicate>{THINGS}) (?:of|for) (?P<subject>(?:the )?\w[\w'’.-]{{0,40}}"
        rf"(?: \w[\w'’.-]{{0,40}}){{0,3}}) is(?: now)? (?P<object>{FIRM})"
    ),
    rule(
        rf"(?P<subject>{NAME})['’]s (?P<predicate>{PEOPLE}|{THINGS}|{NUMBERS}) is(?: now)? (?P<object>{FIRM}|{DATE})"
    ),
)
_PART = r"[^|\n]{1,200}"
_EXPLICIT = re.compile(
    rf"^[ \t]*(?:fact|triple):[ \t]*(?P<subject>{_PART})\|(?P<predicate>{_PART})\|(?P<object>{_PART})$",
    re.I | re.M,
)
_MANY = re.compile(r"^(?:(?:dog|cat|pet|brother|sister|son|daughter|best friend)['’]s name|nickname)$", re.I)


def triples(text: str, speaker: str | None) -> list[Triple]:
    """The facts that a message states, in its order. `speaker`, if it is known, is the subject of what "I" do."""
    found = [*explicit(text), *(_stated(text, speaker) if len(text) <= _SHORT else ())]
    return list(dict.fromkeys(found))[:_MOST]


def explicit(text: str) -> Iterator[Triple]:
    """Lines that state any triple."""
    for match in _EXPLICIT.finditer(text):
        parts = [part.strip() for part in match.group("subject", "predicate", "object")]
        if all(any(character.isalnum() for character in part) for part in parts):
            subject, predicate, value = parts
            yield Triple(subject, predicate, value, single=False)


def _stated(text: str, speaker: str | None) -> Iterator[Triple]:
    for match in SENTENCE.finditer(text):
        if (triple := stated(match[0].strip(), speaker)) is not None:
            yield triple


def stated(sentence: str, speaker: str | None, rules: Sequence[Rule] = _RULES) -> Triple | None:
    """By the first rule that the whole sentence matches."""
    if len(sentence) > LONGEST or sentence.endswith("?"):
        return None
    return next(filter(None, (_applied(rule, sentence, speaker) for rule in rules)), None)


def _applied(rule: Rule, sentence: str, speaker: str | None) -> Triple | None:
    match = rule.pattern.match(sentence)
    if match is None:
        return None
    groups = match.groupdict()
    subject = plain(groups.get("subject") or "") or speaker
    value = plain(groups["object"])
    predicate = rule.predicate or groups["predicate"].lower()
    if subject is None or not is_name(subject) or not is_name(value):
        return None
    return Triple(subject, predicate, value, rule.single and not _MANY.match(predicate))


def plain(name: str) -> str:
    """Without an article and what ends a sentence."""
    return name.strip().removeprefix("the ").rstrip(".,;!")


def is_name(text: str) -> bool:
    """Neither a pronoun or the like, nor the beginning of more."""
    words = _WORD.findall(text[:LONGEST].casefold())
    return bool(words) and words[0] not in _NO_NAMES and not _GOES_ON.search(text)
