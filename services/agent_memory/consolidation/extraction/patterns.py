"""What the clauses of a conversation state besides what `remember` reads. Pure.

A rule matches a whole clause; what follows a value is a place, a time or a remark. Jobs, kin and what one owns are
listed: open patterns would take half of what people say they have or are.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared.sentences.triples import NAME, THINGS, Rule, rule

_ADVERB = (
    r"(?: (?:now|just|also|really|actually|currently|recently|finally|still|absolutely|always|both|originally|even|only"
    r"|already)){0,2}+"
)
_TAIL = (
    r"(?:(?:,| \(| [-–—]| (?:in|on|at|for|with|since|from|after|before|when|as|to|near|by|last|this|next|now|these|too"
    r"|two|three|during|until|about|again|together|yesterday|today|originally|currently|of)\b).{0,400})?[.!…]{0,9}$"
)
_REMARK = (
    r"(?:(?:,| [-–—]| (?:too|as well|so much|a lot|these days|most of all|with|for|at|when|because|as|on|from)\b)"
    r".{0,400})?[.!…]{0,9}$"
)
_REASON = r"(?:,.{0,400}| (?:because|since|so|and|but)\b.{0,400})?[.!]{0,9}$"

_PLACE = rf"(?P<object>(?:the )?{NAME})"
_PERSON = rf"(?P<object>{NAME})"
_WORD = r"[\w'’&.+#-]{1,30}"
# Nothing that points at what was said before.
_NO_THING = (
    r"(?!(?:it|that|this|these|those|you|your|yours|him|her|his|hers|their|them|my|our|its|how|what|when|where|who|why"
    r"|us|me|being|having|hearing|seeing|knowing|going|getting|taking|doing|making|keeping|spending|holding|curling|all"
    r"|everything|anything|nothing|something|one|some|an?|so|very|not|just|the"
    r"|to (?:see|hear|know|think|say|be|have|just|get|go|do))\b|to\W{0,3}$)"
)
_FURTHER = (
    r"(?!(?:too|so|as|with|for|at|when|because|on|from|about|in|by|over|rather|it|they|them|I|me|we|you|that"
    r"|which)\b)"
)
_THING = rf"(?P<object>{_NO_THING}(?:to )?{_WORD}(?: (?:(?:and|to|of|in the) )?{_FURTHER}{_WORD}){{0,3}})"
_JOB = (
    r"(?P<object>(?:[a-z][\w-]{1,20} ){0,2}(?:[a-z]{2,12}(?:ologist|ician|grapher|tect|ntist|acher|ineer|veloper|signer"
    r"|rammer|awyer|ountant|nalyst|rnalist|rtist|armer|selor|sellor|sultant)|nurse|doctor|chef|cook|baker|writer|author"
    r"|editor|painter|sculptor|singer|dancer|actor|actress|pilot|driver|plumber|carpenter|builder|mechanic|firefighter"
    r"|police officer|soldier|judge|barista|waiter|waitress|manager|director|researcher|professor|student|tutor|coach"
    r"|trainer|therapist|vet|surgeon|librarian|translator|interpreter|banker|broker|secretary|tailor|gardener"
    r"|freelancer|entrepreneur|social worker|product owner|tech lead|team lead))"
)
PET = r"(?:dog|cat|puppy|kitten|rabbit|hamster|parrot|horse|turtle|goldfish|guinea pig|pet)"
KIN = (
    r"(?:wife|husband|partner|fianc[eé]e?|boyfriend|girlfriend|boss|manager|mentor|son|daughter|brother|sister|cousin"
    r"|niece|nephew|uncle|aunt|grandson|granddaughter|best friend)"
)
_OWNED = (
    rf"(?:{PET}|{KIN}|kid|child|children|car|bike|bicycle|motorbike|motorcycle|boat|van|truck|house|flat|apartment|condo"
    r"|garden|farm|cabin|piano|guitar|violin|drum kit|telescope|camera|laptop|tattoo|business|shop|store|restaurant"
    r"|bakery|studio|company|blog|podcast|website|licen[cs]e)s?"
)
_HAVE = rf"(?P<object>(?:an?|one|two|three|four|five|six|\d{{1,2}}) (?:[a-z][\w-]{{1,15}} ){{0,2}}{_OWNED})"
_PLAYED = (
    r"(?P<object>(?:the )?(?:piano|guitar|bass|violin|viola|cello|drums|clarinet|saxophone|flute|trumpet|harp|ukulele"
    r"|accordion|harmonica|trombone|organ)|chess|tennis|football|soccer|basketball|golf|volleyball|badminton|hockey"
    r"|rugby|baseball|cricket|poker|squash|table tennis|handball|softball)"
)
_DIET = r"(?:an? )?(?P<object>vegan|vegetarian|pescatarian|lactose[- ]intolerant|coeliac|celiac|diabetic)"
_ROLE = (
    r"(?:the |our |my |an? )?(?:new )?(?P<object>(?:[a-z][a-z-]{1,15} ){0,2}(?:lead|manager|director|head|owner"
    r"|maintainer|engineer|boss|president|captain|designer|developer|architect|reviewer|coach|CEO|CTO|CFO))"
)
_CHANGED = r"(?:is now|has (?:been )?(?:changed|moved) to|(?:was )?(?:changed|moved) to)"
_NEW_VALUE = r"(?P<object>[\w@:/.+-]{1,60}(?: (?!because|since|so|and|but)[\w.:-]{1,20}){0,3})"


def _both(
    first: str, third: str, value: str, predicate: str, *, single: bool = False, end: str = _TAIL
) -> Iterator[Rule]:
    """Of who speaks, and of somebody with a name."""
    yield rule(rf"I(?:['’]m|['’]ve| am| have)?{_ADVERB} {first}{value}", predicate, single=single, end=end)
    yield rule(rf"(?P<subject>{NAME}){_ADVERB} {third}{value}", predicate, single=single, end=end)


_FANS = r"(?:big |huge )?(?:fan of|into|fond of|passionate about)"
RULES: tuple[Rule, ...] = (
    *_both(
        r"(?:been )?(?:living|live|based) in ",
        r"(?:lives|is living|is based) in ",
        _PLACE,
        "lives in",
        single=True,
    ),
    *_both(r"moved (?:back )?to ", r"(?:has )?moved (?:back )?to ", _PLACE, "lives in", single=True),
    *_both(
        r"(?:work|working) (?:at|for) ", r"(?:works|is working) (?:at|for) ", _PLACE, "works at", single=True
    ),
    *_both(
        r"(?:started (?:working|a new job)|got a (?:new )?job) (?:at|with) ",
        r"(?:has )?(?:started (?:working|a new job)|got a (?:new )?job) (?:at|with) ",
        _PLACE,
        "works at",
        single=True,
    ),
    *_both(r"(?:come )?from ", r"(?:is|comes) from ", _PLACE, "is from", single=True),
    *_both(r"was born in ", r"was born in ", rf"(?P<object>{NAME}|(?:19|20)\d\d)", "born in", single=True),
    *_both(r"(?:was raised|grew up) in ", r"(?:was raised|grew up) in ", _PLACE, "grew up in", single=True),
    *_both(r"(?:work(?:ing)? as )?an? ", r"(?:works|is working) as an? ", _JOB, "works as", single=True),
    *_both(r"(?:studied at|graduated from) ", r"(?:studied at|graduated from) ", _PLACE, "studied at"),
    *_both(r"speak (?:fluent |some )?", r"speaks (?:fluent |some )?", _PERSON, "speaks"),
    *_both(r"play(?:ing)? ", r"plays ", _PLAYED, "plays"),
    *_both(r"(?:love|like|enjoy|adore) ", r"(?:loves|likes|enjoys|adores) ", _THING, "likes", end=_REMARK),
    *_both(rf"(?:an? )?{_FANS} ", rf"is (?:an? )?{_FANS} ", _THING, "likes", end=_REMARK),
    *_both(r"(?:hate|dislike|detest) ", r"(?:hates|dislikes|detests) ", _THING, "dislikes", end=_REMARK),
    *_both(r"prefer ", r"prefers ", rf"{_THING}(?: (?:over|rather than) .{{1,80}})?", "prefers", end=_REMARK),
    *_both(r"allergic to ", r"is allergic to ", _THING, "is allergic to", end=_REMARK),
    *_both(r"", r"is ", _DIET, "is"),
    *_both(r"(?:married|engaged) to ", r"is (?:married|engaged) to ", _PERSON, "is married to", single=True),
    *_both(r"", r"is ", r"(?P<object>\d{1,3}) years old", "age", single=True),
    *_both(r"(?:have|own|got|adopted|bought) ", r"(?:has|owns|got|adopted|bought) ", _HAVE, "has"),
    *_both(r"the ", r"is the ", _ROLE.removeprefix(r"(?:the |our |my |an? )?"), "role", single=True),
    rule(rf"(?P<subject>{NAME}) is now {_ROLE}", "role", end=_TAIL),
    rule(rf"[Tt]he (?P<subject>{THINGS}) {_CHANGED} {_NEW_VALUE}", "is", end=_REASON),
    rule(
        rf"[Tt]he (?P<predicate>{THINGS}) (?:of|for) (?P<subject>(?:the )?\w[\w'’.-]{{0,40}}"
        rf"(?: (?!was|is|has)\w[\w'’.-]{{0,40}})?) {_CHANGED} {_NEW_VALUE}",
        end=_REASON,
    ),
    rule(rf"(?P<subject>{NAME})['’]s (?P<predicate>{THINGS}) {_CHANGED} {_NEW_VALUE}", end=_REASON),
)
