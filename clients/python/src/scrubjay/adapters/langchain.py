"""LangChain: the answer to a question as documents. `pip install scrubjay[langchain]`."""

from __future__ import annotations

import dataclasses
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from scrubjay._call import Call
from scrubjay.adapters.sending import AnyClient, Sender
from scrubjay.blocks import parse_block
from scrubjay.calls import context
from scrubjay.models import Assembly


class ScrubjayRetriever(BaseRetriever):
    """What `assemble` finds in every store, one document for each item, within the token budget.

    Documents come as in the block: the user's and the agent's profiles, then what was found, best first. `k` limits
    their number; with it, less relevant items fill up what is missing. The metadata are the fields of an item's
    source, and the `assembly_id` that feedback names. With a client that awaits, only `ainvoke` can be used.
    """

    client: Any
    """One of `AnyClient`."""
    agent: str | None = None
    mission: str | None = None
    user: str | None = None
    session: str | None = None
    token_budget: int | None = None
    k: int | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        most = self.k if k is None else k
        return _documents(self._sender().send(self._call(query, most)), most)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        most = self.k if k is None else k
        return _documents(await self._sender().asend(self._call(query, most)), most)

    def _sender(self) -> Sender:
        client: AnyClient = self.client
        return Sender(client)

    def _call(self, query: str, most: int | None) -> Call[Assembly]:
        return context.assemble(
            query,
            agent=self.agent,
            mission=self.mission,
            user_id=self.user,
            session_id=self.session,
            token_budget=self.token_budget,
            fill=None if most is None else True,
        )


def _documents(assembly: Assembly, most: int | None) -> list[Document]:
    sources = {source.handle: source for source in assembly.sources}
    items = parse_block(assembly.context_block, assembly.nonce)
    documents = [
        Document(
            page_content=item.text,
            id=item.handle,
            metadata={**dataclasses.asdict(sources[item.handle]), "assembly_id": assembly.assembly_id},
        )
        for item in items
        if item.handle in sources
    ]
    return documents[:most]
