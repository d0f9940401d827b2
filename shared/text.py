"""Types for text in requests, and rules for names that routes can reach."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from shared.vocabulary import ID

MAX_CONTENT = 200_000
MAX_QUERY = 8_000

IGNORABLE = r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
"""The inside of a class: characters that Unicode lets a reader ignore, beside all controls and formats."""
_UNSEEN = (
    r"\x01-\x20\x7f-\xa0\xad\u061c\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff0-\ufffb"
)
# Clients read it in the API's document: it holds no `\s`, which is not the same everywhere, and nothing beyond U+FFFF,
# which Python and ECMAScript write differently. U+0000 is refused for itself.
SEEN = rf"[^{_UNSEEN}{IGNORABLE}]"
"""What each text holds that is not blank: something else than white space and characters that nobody sees."""
_SEEN = re.compile(SEEN)
BLANK = "must not be blank"

# A thing may have been stored under a blank name, by which it is then found and erased.
Name = Annotated[str, Meta(min_length=1, max_length=200)]
# These have to say something.
Content = Annotated[str, Meta(min_length=1, max_length=MAX_CONTENT, pattern=SEEN)]
ShortText = Annotated[str, Meta(min_length=1, max_length=4_000, pattern=SEEN)]
Label = Annotated[str, Meta(min_length=1, max_length=200, pattern=SEEN)]
Tag = Annotated[str, Meta(min_length=1, max_length=100, pattern=SEEN)]
Tags = Annotated[list[Tag], Meta(max_length=50)]
# A blank one is taken, too: it is quoted, kept or compared as it is, and to a blank question there is an answer.
Query = Annotated[str, Meta(min_length=1, max_length=MAX_QUERY)]
AnyContent = Annotated[str, Meta(min_length=1, max_length=MAX_CONTENT)]
AnyShortText = Annotated[str, Meta(min_length=1, max_length=4_000)]
AnyTags = Annotated[list[Annotated[str, Meta(min_length=1, max_length=100)]], Meta(max_length=50)]
Path = Annotated[str, Meta(min_length=1, max_length=300)]
Symbol = Annotated[str, Meta(min_length=1, max_length=200)]
Paths = Annotated[list[Path], Meta(max_length=50)]
Symbols = Annotated[list[Symbol], Meta(max_length=50)]
Step = Literal["plan", "read", "edit", "run", "test", "diff"]
"""The kinds of an agent's steps."""
Language = Literal[
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr", "ga", "he", "hi", "hr", "hu",
    "hy", "id", "it", "ja", "ko", "lt", "lv", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "ta",
    "th", "tr", "uk", "ur", "vi", "zh",
]  # fmt: skip
"""ISO 639-1's codes of the languages that search tells apart."""
BigId = Annotated[int, Meta(gt=0, le=2**63 - 1, extra_json_schema={ID: True})]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
TtlHours = Annotated[float, Meta(gt=0, le=24 * 366)]

# A mission must not shadow a route. `*` means every mission that a key may read, and clients drop dots from paths.
RESERVED_MISSIONS = frozenset({"*", "all", "checkpoint", "write", "query", ".", ".."})


def is_blank(text: str) -> bool:
    return _SEEN.search(text) is None


def mission_problem(mission_id: str) -> str | None:
    """Why a mission cannot have this name, or None."""
    if mission_id in RESERVED_MISSIONS:
        return f"{mission_id!r} is reserved"
    if "/" in mission_id or "*" in mission_id:
        return "must not contain '/' or '*'"
    if mission_id != mission_id.strip() or not mission_id.isprintable():
        return "must be printable and not begin or end with a space"
    return None


def to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def characters(stated: msgspec.Struct) -> int:
    """The length of all its texts: search reads the others, too, not its content alone."""
    return sum(map(_characters, msgspec.structs.astuple(stated)))


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(_characters, value)) if isinstance(value, list) else 0
