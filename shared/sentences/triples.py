"""What of a message is a fact: subject, predicate and object. Pure.

The rules understand English and take a sentence only if all of it is the statement: a doubtful one is left out. "I"
and "my" are whoever said it. Lines such as `fact: Ana | works at | Acme` state any triple.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# A longer text mentions facts among other things.
_SHORT = 600
_LONGEST = 200
"""Characters of a sentence."""
_MOST = 10
"""Facts of a message."""

_SENTENCE = re.compile(r"[^.!?\n]++(?:\.(?=\w)[^.!?\n]*+)*+[.!?]?")
_OPENING = r"(?i:(?:hi|hello|hey|yes|yeah|ok|okay|well|also|and|so|by the way|btw|fyi),? )?"
_UPPER = r"[A-Z][\w'’&.-]{0,40}"
_NAME = rf"{_UPPER}(?: (?:(?:of|de|da|del|van|von|the|and|&) )?{_UPPER}){{0,4}}"
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
_ROLES = (
    r"(?:owner|author|maintainer|founder|co-founder|ceo|cto|cfo|head|director|manager|lead|leader|boss|captain|capital"
    r"|mayor|president|editor|wife|husband|partner|brother|sister|mother|father|son|daughter|mentor|assistant|deputy"
    r"|successor|predecessor|on-call engineer|product owner|tech lead)"
)
_PEOPLE = (
    r"(?:wife|husband|partner|fianc[eé]e?|spouse|boss|manager|supervisor|mentor|doctor|therapist|landlord|team lead"
    r"|(?:best friend|mother|mom|mum|father|dad|brother|sister|son|daughter|dog|cat|pet|wife|husband|partner|boss"
    r"|manager)['’]s name|name|full name|first name|last name|surname|nickname|employer|company|hometown|home town"
    r"|home city|city|country|nationality|native language|mother tongue)"
)
_NUMBERS = (
    r"(?:time ?zone|birthday|date of birth|phone number|e-?mail(?: address)?|employee number"
    r"|github (?:handle|username))"
)
_THINGS = (
    r"(?:owner|maintainer|author|lead|tech lead|manager|on-call engineer|port|default port|version|current version"
    r"|latest version|url|address|hostname|region|primary region|default branch|deadline|release date|licen[cs]e"
    r"|capital|budget|codename|code name|repository)"
)
# Whole values: a name, or what holds a digit or an @.
_FIRM = (
    rf"(?:(?:the )?{_NAME}|(?=[^ ]{{0,80}}[\d@])[\w@+#:/.-]{{1,80}}(?: [\w+-]{{1,20}}){{0,2}}"
    r"|[A-Z]\w{1,20}/[A-Z]\w{1,30}|https?://\S{1,80})"
)
_DATE = r"(?=.{0,40}\d)[A-Z0-9][\w ,/.-]{2,40}"
_END = r"(?:,? (?:now|these days|at the moment|currently|by the way|too))?[.!]?$"


class Triple(NamedTuple):
    subject: str
    predicate: str
    object: str
    single: bool
    """The predicate has one value at a time."""


class _Rule(NamedTuple):
    """`pattern` matches a whole sentence. Without the group `subject`, it is about who says it."""

    pattern: re.Pattern[str]
    predicate: str | None = None
    """None: the group `predicate` is."""
    single: bool = True


def _rule(pattern: str, predicate: str | None = None, *, single: bool = True) -> _Rule:
    return _Rule(re.compile(rf"^{_OPENING}{pattern}{_END}"), predicate, single)


_I_AM = r"(?:I am|I'm|I’m)"
_HE_IS = rf"(?P<subject>{_NAME}) is"
_OBJECT = rf"(?P<object>(?:the )?{_NAME})"
_RULES = (
    _rule(rf"[Mm]y (?P<predicate>{_PEOPLE}) is (?P<object>{_NAME})"),
    _rule(rf"[Mm]y (?P<predicate>{_NUMBERS}) is (?P<object>{_FIRM}|{_DATE})"),
    _rule(
        r"[Mm]y (?P<predicate>(?:favou?rite|preferred) \w{2,30}(?: \w{2,30})?) is"
        r" (?P<object>(?!(?:that|to|when|if|because|not|how|what|the one|a bit|so|very)\b)[\w'’&.+#-]{1,40}"
        r"(?: [\w'’&.+#-]{1,40}){0,3})"
    ),
    _rule(rf"(?:I|i) work (?:at|for) {_OBJECT}", "works at"),
    _rule(r"I work as an? (?P<object>[a-z][\w-]{2,30}(?: [a-z][\w-]{2,30}){0,2})", "works as"),
    _rule(rf"I (?:live|am living) in {_OBJECT}", "lives in"),
    _rule(rf"{_I_AM} (?:based|living) in {_OBJECT}", "lives in"),
    _rule(rf"(?:{_I_AM} from|I come from) {_OBJECT}", "is from"),
    _rule(rf"I was born in (?P<object>{_NAME}|(?:19|20)\d\d)", "born in"),
    _rule(rf"{_I_AM} married to (?P<object>{_NAME})", "is married to"),
    _rule(rf"(?P<subject>{_NAME}) works (?:at|for) {_OBJECT}", "works at"),
    _rule(rf"(?P<subject>{_NAME}) lives in {_OBJECT}", "lives in"),
    _rule(rf"{_HE_IS} from {_OBJECT}", "is from"),
    _rule(rf"{_HE_IS} based in {_OBJECT}", "lives in"),
    _rule(rf"(?P<subject>{_NAME}) was born in (?P<object>{_NAME}|(?:19|20)\d\d)", "born in"),
    _rule(rf"{_HE_IS} married to (?P<object>{_NAME})", "is married to"),
    _rule(
        rf"{_HE_IS} (?:the |an? )(?P<predicate>{_ROLES} of) (?P<object>(?:the )?{_NAME}|the \w[\w-]{{1,30}}"
        rf"(?: \w[\w-]{{1,30}}){{0,2}})",
        single=False,
    ),
    _rule(
        rf"[Tt]he (?P<predicate>{_THINGS}) (?:of|for) (?P<subject>(?:the )?\w[\w'’.-]{{0,40}}"
        rf"(?: \w[\w'’.-]{{0,40}}){{0,3}}) is (?P<object>{_FIRM})"
    ),
    _rule(
        rf"(?P<subject>{_NAME})['’]s (?P<predicate>{_PEOPLE}|{_THINGS}|{_NUMBERS}) is (?P<object>{_FIRM}|{_DATE})"
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
    found = [*_explicit(text), *(_stated(text, speaker) if len(text) <= _SHORT else ())]
    return list(dict.fromkeys(found))[:_MOST]


def _explicit(text: str) -> Iterator[Triple]:
    for match in _EXPLICIT.finditer(text):
        parts = [part.strip() for part in match.group("subject", "predicate", "object")]
        if all(any(character.isalnum() for character in part) for part in parts):
            subject, predicate, value = parts
            yield Triple(subject, predicate, value, single=False)


def _stated(text: str, speaker: str | None) -> Iterator[Triple]:
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip()
        if len(sentence) <= _LONGEST and not sentence.endswith("?"):
            triple = next(filter(None, (_applied(rule, sentence, speaker) for rule in _RULES)), None)
            if triple is not None:
                yield triple


def _applied(rule: _Rule, sentence: str, speaker: str | None) -> Triple | None:
    match = rule.pattern.match(sentence)
    if match is None:
        return None
    groups = match.groupdict()
    subject = _plain(groups.get("subject") or "") or speaker
    value = _plain(groups["object"])
    predicate = rule.predicate or groups["predicate"].lower()
    if subject is None or not _is_name(subject) or not _is_name(value):
        return None
    return Triple(subject, predicate, value, rule.single and not _MANY.match(predicate))


def _plain(name: str) -> str:
    """Without an article and what ends a sentence."""
    return name.strip().removeprefix("the ").rstrip(".,;!")


def _is_name(text: str) -> bool:
    """Neither a pronoun or the like, nor the beginning of more."""
    words = _WORD.findall(text[:_LONGEST].casefold())
    return bool(words) and words[0] not in _NO_NAMES and not _GOES_ON.search(text)
