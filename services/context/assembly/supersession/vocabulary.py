"""The English words by which a statement's subject, relation and value are told apart."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words("the a an our my your its their this that")
BE = _words("is are equals becomes became remains")
# A statement about the past does not hold now.
PAST = _words("was were had did used")
AUXILIARIES = _words("has have been being was were is are got gets will be")
PREPOSITIONS = _words(
    "to on in at by from with for as into under after before every over via through within against about of until"
    " behind between than"
)
NOW = _words("now currently presently officially already today instead finally")
# What these say holds beside what was said before, or denies it.
BESIDES = _words(
    "also too still not never no neither sometimes often usually additionally either both isn't aren't maybe perhaps"
    " possibly probably almost just so very really quite more less always"
)
# "The limit was raised to 5" says that it is 5 now.
CHANGES = _words(
    "changed moved switched set updated raised lowered bumped migrated transferred rescheduled postponed pushed"
    " shifted increased decreased reduced reassigned upgraded downgraded extended shortened renamed relocated cut"
    " grew dropped went changes moves switches"
)
# What moves or switches is somewhere else, but not all else that is said of it ends. Of the CHANGES, only these may
# follow a subject of one word: "Mia set the alarm to 7".
MOTIONS = {
    "moved": "move",
    "moves": "move",
    "migrated": "move",
    "relocated": "move",
    "transferred": "move",
    "switched": "switch",
    "switches": "switch",
}
# What these qualify is a choice, whatever its value looks like.
CHOSEN = _words("favorite favourite preferred default chosen")
# Verbs with a single object at a time. The same fact has one relation, whichever form of the verb states it.
SINGLE_VALUED = {
    form: relation
    for relation, forms in {
        "run": "runs run running deployed deploys hosted lives live living sits sit resides reside located based",
        "work": "works work working employed",
        "listen": "listens listen listening",
        "point": "points point pointing resolves resolve",
        "cost": "costs cost",
        "last": "lasts last takes take",
        "expire": "expires expire",
        "start": "starts start begins begin kicks scheduled planned due",
        "end": "ends end closes close finishes finish",
        "open": "opens open",
        "belong": "belongs belong owned",
        "report": "reports report",
        "default": "defaults default",
        "weigh": "weighs weigh",
        "stay": "stays stay",
        "lead": "led managed headed",
        "assign": "assigned",
        "limit": "limited capped",
        "name": "called named",
        "prefer": "prefers prefer",
    }.items()
    for form in forms.split()
}
# Verbs with several objects. Another one replaces the object only if it differs in nothing but its number or name.
MANY_VALUED = _words(
    "uses use using has have keeps keep kept holds hold needs need requires require allows allow accepts accept stores"
    " store stored serves serve retries sends send pays pay earns earn drinks drives built written backed"
)
PRONOUNS = _words(
    "it this that these those there here he she they who what which we you everything nothing something someone"
    " everyone nobody one some all both each i'm it's that's there's he's she's let's we're you're they're what's"
)
# What begins with these asks, commands, joins or supposes.
OPENINGS = _words(
    "if when while why how where whether because although though unless once please can could should would do does did"
    " is are was were has have let and or so but then maybe perhaps yes no ok okay well oh wow another any every never"
    " always not hey hi thanks sure great good don't"
)
# An event's subject: each is one of many, and holds beside the others.
EVENTS = _words(
    "test tests step task item case run build commit deploy deployment release incident alert meeting call visit"
    " appointment attempt try round turn batch iteration epoch phase part chapter section line pr issue ticket job bug"
    " result event message question answer example quote log entry trip session suite output error warning exception"
    " invoice order payment request response"
)
# A label says what kind of statement follows, not what it is about.
LABELS = _words(
    "note notes todo decision idea finding observation lesson tip warning error fix bug issue reminder update"
    " correction info fyi summary fact memo psa comment remember important news announcement edit action question"
    " answer q a re user assistant system tool human ai agent debug result output example hypothesis plan goal thought"
    " observed learned change"
)
# Keys of which a list has several.
LISTED = _words(
    "cause takeaway participant member attendee dependency import risk ingredient tag feature requirement rule skill"
    " hobby allergy benefit option alternative advantage insight blocker topic claim evidence hint constraint"
    " assumption source reference link command see contact interest file symptom suggestion feedback concern"
)
# Keys that may begin with a capital and have any value. Another capitalised key may be who speaks.
ATTRIBUTES = _words(
    "status state mood color colour language theme priority level mode phase stage role environment env branch severity"
    " format style tone diet location weather name owner window database port version model type"
)
STATES = _words(
    "enabled disabled on off open closed up down active inactive blocked unblocked done pending failed passed passing"
    " failing ready online offline paused resumed running stopped approved rejected locked unlocked available"
    " unavailable true false public private deprecated frozen unfrozen empty"
)
NUMBERS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty hundred"
)
WEEKDAYS = _words("monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun")
MONTHS = _words(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug"
    " sep sept oct nov dec"
)
IRREGULAR_PAST = _words(
    "ran built sent made wrote took got found saw began went came met said told paid bought sold gave left lost read"
    " had did was were felt kept"
)
# They end like a past tense, but begin a subject.
NOT_PAST = _words(
    "need speed seed feed shared embedded united red fixed advanced preferred planned required supported allowed"
    " expected estimated assigned dedicated managed selected"
)
