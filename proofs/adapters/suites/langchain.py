"""LangChain's standard tests of retrievers, over ours, and that a document is what was written."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from proofs.adapters.suites.telling import Counts, Drops, client, tell
from scrubjay.adapters.langchain import ScrubjayRetriever

TEXTS = [
    f"The lantern of pier {number} burns {colour} oil, and is filled by the {who} on day {number}."
    for number, (colour, who) in enumerate((("red", "keeper"), ("blue", "mate"), ("clear", "pilot")), 1)
]
QUESTION = "What oil does the lantern of the pier burn?"


def written(agent: str) -> None:
    """The control drops every third."""
    drops = Drops()
    with client() as jay:
        for text in TEXTS:
            if not drops.next():
                jay.agent(agent).remember(text)


class TestScrubjayRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return ScrubjayRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"client": client(), "agent": "keeper"}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


def every_document_is_what_was_written() -> None:
    found = ScrubjayRetriever(client=client(), agent="keeper").invoke(QUESTION)
    assert sorted(document.page_content for document in found) == TEXTS, found
    assert all(document.metadata["handle"] == document.id for document in found)
    assert found[0].metadata["assembly_id"]


def main() -> None:
    written("keeper")
    failed = []
    try:
        every_document_is_what_was_written()
    except AssertionError as error:
        failed.append(f"documents: {error}"[:1500])
    tell("retriever: its documents", "langchain-core", int(not failed), failed)
    counts = Counts()
    pytest.main(
        ["-q", "--no-header", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", __file__], plugins=[counts]
    )
    tell("retriever: standard tests", "langchain-tests", counts.passed, counts.failed)


if __name__ == "__main__":
    main()
