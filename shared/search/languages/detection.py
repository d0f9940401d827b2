"""Names the language of a text or question: by its script, or else with a model of letters.

English is the base: every text is indexed with English stems, and another language adds its own. So only clear
evidence names another language, and a wrong name costs nothing but a few words in the index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from shared.search.languages.model import LetterModel, keep_part, load_model
from shared.text import Language

ENGLISH = "english"
# No stems.
SIMPLE = "simple"
_CONFIGS: Mapping[Language, str] = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": ENGLISH,
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
CONFIGS = frozenset([SIMPLE, *_CONFIGS.values()])
"""PostgreSQL's text search configurations that a text may have, since version 14."""

# The beginning of a text names its language, in a fraction of the time.
_SAMPLE = 300
# Frequent in English, and hardly a word in another language. In a text where every tenth word is one, nothing is left
# to find out.
_ENGLISH = frozenset(
    """
    the and that this are you your from they what when how which where who whose does did were been
    their there would could should about because why with have while until before after through into only other
    them these those its our than every each between since without again never always
    something anything everything someone everyone things know really
    it's i'm i've i'll i'd that's there's what's let's you're you've you'll we're we've they're he's she's
    don't doesn't didn't can't couldn't won't wouldn't isn't wasn't aren't haven't
    """.split()  # noqa: SIM905
)
_ENGLISH_SHARE = 10
# The model's probability that names a language. On 20,000 English texts, logs and pieces of code, the highest for any
# other language is 0.6, in one.
_CERTAIN = 0.5
# A question of one word may be of any of the languages that are as probable as this.
_POSSIBLE, _MOST_POSSIBLE = 0.03, 6
_LEAST_LETTERS = 3
# Short Russian texts look Bulgarian or Ukrainian by chance.
_CERTAIN_CYRILLIC = 0.9
# The languages written in Latin or Cyrillic letters.
_MODELLED = tuple(
    "bg ca cs da de en es et eu fi fr ga hr hu id it lt lv nl no pl pt ro ru sk sl sr sv tr uk vi".split()  # noqa: SIM905
)
_CYRILLIC: frozenset[Language] = frozenset(["bg", "ru", "sr", "uk"])
# Japanese before Chinese: it has Chinese characters beside its own.
_SCRIPTS: Sequence[tuple[re.Pattern[str], Language]] = (
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\uac00-\ud7af]"), "ko"),
    (re.compile(r"[\u3400-\u9fff]"), "zh"),
    (re.compile(r"[\u0e00-\u0e7f]"), "th"),
    (re.compile(r"[\u0400-\u04ff]"), "ru"),
    (re.compile(r"[\u0370-\u03ff]"), "el"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\u0590-\u05ff]"), "he"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
    (re.compile(r"[\u0b80-\u0bff]"), "ta"),
    (re.compile(r"[\u0530-\u058f]"), "hy"),
)
# A script names a text's language when at least every fourth character is of it.
_SCRIPT_SHARE = 4


def config_of(language: Language) -> str:
    """The text search configuration of a language."""
    return _CONFIGS.get(language, SIMPLE)


def language_of(text: str, likely: Language = "en") -> Language:
    """The language of a text, or the likely one without clear evidence."""
    return certain_language(text) or likely


def certain_language(text: str) -> Language | None:
    sample = text[:_SAMPLE]
    if _is_english(sample):
        return "en"
    if (script := _by_script(sample)) is not None:
        return script
    return next((language for language, share in _probable(sample) if share >= _CERTAIN), None)


def languages_of(question: str, likely: Sequence[Language] = ()) -> list[Language]:
    """The languages that a question may be of besides English: one, or several for a question of few words.

    The likely ones are among them, unless the question is clearly of another.
    """
    sample = question[:_SAMPLE]
    if (len(sample.strip()) < _LEAST_LETTERS and sample.isascii()) or _is_english(sample):
        return []
    if (script := _by_script(sample)) is not None:
        return [script]
    probable = _probable(sample)[:_MOST_POSSIBLE]
    certain = [language for language, share in probable if share >= _CERTAIN]
    possible = dict.fromkeys([*likely, *(language for language, _ in probable)])
    return [language for language in certain or possible if language != "en"]


def _is_english(sample: str) -> bool:
    words = sample.lower().split()
    return sum(map(_ENGLISH.__contains__, words)) * _ENGLISH_SHARE > len(words)


def _by_script(sample: str) -> Language | None:
    if sample.isascii():
        return None
    most = len(sample) / _SCRIPT_SHARE
    language = next((name for script, name in _SCRIPTS if len(script.findall(sample)) >= most), None)
    return _cyrillic(sample) if language == "ru" else language


def _cyrillic(sample: str) -> Language:
    certain = [language for language, share in _probable(sample) if share >= _CERTAIN_CYRILLIC]
    return certain[0] if certain and certain[0] in _CYRILLIC else "ru"


def _probable(sample: str) -> list[tuple[Language, float]]:
    """The most probable language first."""
    shares = load_detector().probabilities(sample).items()
    probable = [(cast("Language", name), share) for name, share in shares if share >= _POSSIBLE]
    return sorted(probable, key=lambda language: -language[1])


@cache
def load_detector() -> LetterModel:
    """Maps the kept part of the model: 14 MB, once for all processes. Without that, each cuts it for itself, in half a
    second. Services load it before they serve.
    """
    return load_model(_MODELLED)


def keep_detector() -> Path:
    """Keeps the part of the model that `load_detector` loads, in the environment. Returns its file."""
    return keep_part(_MODELLED)
