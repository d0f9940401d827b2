"""The keys by which names are compared: without case, spacing and the variants of letters. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata

# Bytes. An index takes keys of up to 2,700 in all.
_LONGEST = 200
_BEGINNING = 40
# No key of a short name holds it: it counts as a space.
_MARK = "\x1f"
_JOINT = re.compile(r"[\s_-]+")


def entity_key(name: str) -> str:
    """Empty for a name of spaces."""
    return _bounded(" ".join(folded(name).split()))


def predicate_key(name: str) -> str:
    """`lives_in` and `lives in` are one predicate."""
    return _bounded(_JOINT.sub(" ", folded(name)).strip())


def folded(name: str) -> str:
    """Without case and the variants of letters."""
    return unicodedata.normalize("NFKC", name).casefold()


def _bounded(key: str) -> str:
    encoded = key.encode()
    if len(encoded) <= _LONGEST:
        return key
    return f"{key[:_BEGINNING]}{_MARK}{hashlib.sha256(encoded).hexdigest()}"
