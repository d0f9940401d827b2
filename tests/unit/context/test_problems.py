from __future__ import annotations

import re
from pathlib import Path

import pytest

from shared.errors import KINDS, AppError
from tools.openapi.problems import responses

PAGE = Path(__file__).parents[3] / "docs" / "problems.md"


def _sections() -> dict[str, str]:
    _, *sections = re.split(r"^## ", PAGE.read_text(), flags=re.M)
    return {name: " ".join(text.split()) for name, _, text in (one.partition("\n") for one in sections)}


def test_the_docs_explain_the_kinds_that_there_are() -> None:
    assert list(_sections()) == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_docs_say_what_the_service_says(kind: str) -> None:
    error = KINDS[kind]
    assert _sections()[kind] == f"{error.status} {error.title}. {error.meaning} {error.remedy}"


def test_every_failure_is_of_a_kind() -> None:
    def below(error: type[AppError]) -> set[type[AppError]]:
        return {error, *(found for one in error.__subclasses__() for found in below(one))}

    unnamed = {error.__name__ for error in below(AppError) if error.kind not in KINDS}
    assert unnamed == set()
    assert len(KINDS) == len({error.kind for error in below(AppError)})


def test_the_document_has_an_example_of_each_status_that_operations_answer() -> None:
    statuses = {int(name.removeprefix("Problem")) for name in responses()}
    assert statuses == {error.status for error in KINDS.values()} - {405, 431, 500}
