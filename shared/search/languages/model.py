"""Weighs the letters of a text for each language, with py3langid's model cut down to what is asked of it.

The whole model has the n-grams of all scripts and weights for 142 languages, and takes 70 MB. A fifth of it gives the
same probabilities for the languages written in Latin and Cyrillic letters.

The model is an Aho-Corasick automaton over the bytes of a text: its state is the longest known n-gram that ends at a
byte. Some states stand for a feature, which naive Bayes weighs by how often the text has it.
"""

from __future__ import annotations

import ctypes
import hashlib
import lzma
import math
import os
import shutil
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from py3langid.langid import MODEL_DIR, MODEL_FILE

# In UTF-8: ASCII, the first bytes of Latin and Cyrillic letters and of typographic punctuation, and the bytes after
# them.
_BYTES = (*range(0xC0), *range(0xC2, 0xCA), *range(0xD0, 0xD4), 0xE1, 0xE2)


class _Automaton(NamedTuple):
    """Each byte has a column, and other bytes share column 0, which leads to the first state, of no n-gram.

    The states that a byte leads to have consecutive numbers. So a cell holds the number within its column, and two
    bytes are enough.
    """

    columns: bytes
    """The column of each byte, for `bytes.translate`."""
    cells: memoryview
    rows: memoryview
    """Where the row of each state begins in `cells`. Several states share a row."""
    firsts: list[int]
    """The first state of each column."""
    features: memoryview
    """The feature of each state, or -1. Several states may have the same."""

    def features_of(self, text: bytes) -> list[int]:
        columns, cells, rows, firsts, features = self
        state, found = 0, []
        for column in text.translate(columns):
            state = cells[rows[state] + column] + firsts[column]
            if features[state] >= 0:
                found.append(features[state])
        return found


class LetterModel:
    def __init__(
        self, automaton: _Automaton, weights: np.ndarray, priors: np.ndarray, languages: Sequence[str]
    ) -> None:
        """`weights` has a row for each feature and a column for each of `languages`, as `priors` has."""
        self._automaton = automaton
        self._weights = weights
        self._priors = priors
        self._languages = languages

    def probabilities(self, text: str) -> dict[str, float]:
        """The probability of each language: of a text without a feature, the same for all."""
        encoded = _normal(text).encode(errors="surrogatepass")
        counts = Counter(self._automaton.features_of(encoded))
        if not counts:
            return dict.fromkeys(self._languages, 1 / len(self._languages))
        how_often = np.log1p(np.array(list(counts.values()), np.float32))
        scores = how_often @ self._weights[list(counts)] + self._priors
        # As calibrated by py3langid, over texts of different lengths.
        scores /= math.sqrt(len(encoded))
        shares = np.exp(scores - scores.max())
        return self._by_language((shares / shares.sum()).tolist())

    def _by_language(self, shares: Sequence[float]) -> dict[str, float]:
        """A language that is written in two scripts has two columns."""
        total = dict.fromkeys(self._languages, 0.0)
        for language, share in zip(self._languages, shares, strict=True):
            total[language] += share
        return total


def load_model(languages: Collection[str]) -> LetterModel:
    """The part for these languages: the one that `keep_part` kept, or else cut now, which takes half a second."""
    kept = _kept(languages)
    return _of_arrays(_mapped(kept) if kept.exists() else _cut(languages))


def keep_part(languages: Collection[str]) -> Path:
    """Writes the part for these languages into the environment, so that no service has to cut it when it starts."""
    kept = _kept(languages)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=kept.parent, suffix=".npy", delete=False) as file:
        np.save(file, _in_one(_cut(languages)), allow_pickle=False)
    written = Path(file.name)
    written.chmod(0o644)
    return written.replace(kept)


def _kept(languages: Collection[str]) -> Path:
    """Another model, other languages or another way of cutting have another file."""
    made_of = (version("py3langid"), *sorted(languages), Path(__file__).read_text())
    name = hashlib.sha256("\0".join(made_of).encode()).hexdigest()
    return Path(sys.prefix, "share", "scrubjay", f"letters-{name[:16]}.npy")


def _in_one(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """One record with a field for each of the arrays, so that one file holds them where it can be mapped."""
    fields = np.dtype([(name, one.dtype, one.shape) for name, one in arrays.items()], align=True)
    record = np.zeros(1, fields)
    for name, one in arrays.items():
        record[name] = one
    return record


def _mapped(kept: Path) -> dict[str, np.ndarray]:
    """The arrays of the file, as pages that all processes share and that become resident when a text needs them."""
    if sys.platform == "linux":
        # Otherwise the first texts would wait for the disk, on the event loop.
        with kept.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
    record = np.load(kept, mmap_mode="r", allow_pickle=False)[0]
    return {name: np.asarray(record[name]) for name in record.dtype.names}


def _cut(languages: Collection[str]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as unpacked:
        with lzma.open(MODEL_DIR / MODEL_FILE) as packed:
            shutil.copyfileobj(packed, unpacked)
        unpacked.seek(0)
        with np.load(unpacked, allow_pickle=False) as arrays:
            part = _cut_down(arrays, languages)
    _give_back_memory()
    return part


def _give_back_memory() -> None:
    """glibc keeps what was freed: here, more than the model takes."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text.lower() if text.isupper() else text)


def _cut_down(arrays: Mapping[str, Any], languages: Collection[str]) -> dict[str, Any]:
    names = arrays["classes"].tolist()
    places = [place for place, name in enumerate(names) if name in languages]
    used, columns = _columns(arrays["nextmove"].reshape(-1, 256))
    automaton, features = _automaton(used, columns, arrays["nextmove_row"], arrays["out_feat"])
    return {
        **automaton,
        "weights": arrays["ptc"][features[:, None], places],
        "priors": arrays["pc"][places],
        "languages": np.array([names[place] for place in places]),
    }


def _of_arrays(arrays: Mapping[str, np.ndarray]) -> LetterModel:
    automaton = _Automaton(
        columns=arrays["columns"].tobytes(),
        cells=arrays["cells"].data,
        rows=arrays["rows"].data,
        firsts=arrays["firsts"].tolist(),
        features=arrays["features"].data,
    )
    return LetterModel(automaton, arrays["weights"], arrays["priors"], arrays["languages"].tolist())


def _columns(moves: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Those of _BYTES that begin an n-gram, and for each of them where it leads to, by row."""
    used = [byte for byte in _BYTES if moves[0, byte]]
    return used, np.stack([moves[:, byte] for byte in used])


def _automaton(
    used: Sequence[int], columns: np.ndarray, row_of: np.ndarray, feature_of: np.ndarray
) -> tuple[dict[str, Any], np.ndarray]:
    """The automaton of the used bytes, as arrays, and the number that each of its features has in the whole model."""
    kept, firsts = _by_column(columns, _reached(columns, row_of))
    rows, row_of_kept = np.unique(row_of[kept], return_inverse=True)
    number = np.zeros(len(row_of), np.int64)
    number[kept] = np.arange(len(kept))
    cells = np.zeros((len(rows), len(used) + 1), np.uint16)
    for column, targets in enumerate(columns, 1):
        cells[:, column] = number[targets[rows]] - firsts[column]
    features, feature_of_kept = np.unique(feature_of[kept], return_inverse=True)
    automaton = {
        "columns": np.array([used.index(byte) + 1 if byte in used else 0 for byte in range(256)], np.uint8),
        "cells": cells.reshape(-1),
        "rows": (row_of_kept * cells.shape[1]).astype(np.uint32),
        "firsts": firsts,
        # The first of the sorted features is -1.
        "features": (feature_of_kept - 1).astype(np.int32),
    }
    return automaton, features[1:]


def _by_column(columns: np.ndarray, reached: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states in the order of the columns that lead to them, and where each column's begin."""
    column_of = np.zeros(int(reached.max()) + 1, np.uint8)
    for column, targets in enumerate(columns, 1):
        column_of[targets[targets < len(column_of)]] = column
    of_reached = column_of[reached]
    order = np.argsort(of_reached, kind="stable")
    return reached[order], np.searchsorted(of_reached[order], np.arange(len(columns) + 1))


def _reached(columns: np.ndarray, row_of: np.ndarray) -> np.ndarray:
    """The states that some text of these columns' bytes is in, the first state included."""
    reached = np.zeros(len(row_of), bool)
    reached[0] = True
    fringe = np.array([0])
    while len(fringe):
        before = reached.copy()
        rows = np.unique(row_of[fringe])
        for targets in columns:
            reached[targets[rows]] = True
        fringe = np.flatnonzero(reached & ~before)
    return np.flatnonzero(reached)
