"""Makes what `cache.put_entries` takes of entries, with the words that search indexes. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.cache.entries.queries_write import Put
from services.cache.entries.schemas import WriteCacheInput
from services.cache.entries.text import branch_fields, entry_text, entry_tokens, search_words
from shared.auth import Principal
from shared.provenance import Origin, head, utc
from shared.search import code
from shared.search.lexicon import Hints, indexed
from shared.text import Language

NO_LANGUAGES: Mapping[str, Language] = {}


def put_of(
    principal: Principal, entry: WriteCacheInput, languages: Mapping[str, Language] = NO_LANGUAGES
) -> Put:
    """`languages` are those of missions."""
    context_type = str(entry.__struct_config__.tag)
    metadata = branch_fields(entry)
    text = entry_text(entry.content, context_type, metadata)
    occurred_at = utc(entry.occurred_at)
    origin = Origin.of(principal, entry.source_kind)
    names = [*entry.paths, *entry.symbols]
    likely = languages.get(entry.mission_id) or principal.language or "en"
    hints = Hints([*code.of_heading(text), *code.given(names)], entry.language, likely)
    put = Put(
        context_type=context_type,
        content=entry.content,
        metadata=metadata,
        agent_name=entry.agent_name,
        tags=entry.tags,
        paths=entry.paths,
        symbols=entry.symbols,
        step=entry.step,
        source_turn=entry.source_turn,
        dispatch_id=entry.dispatch_id,
        occurred_at=occurred_at,
        session_id=entry.session_id,
        seq=entry.seq,
        speaker=entry.speaker,
        user_id=entry.user_id,
        written_by=principal.key,
        source_kind=origin.kind,
        source_claim=origin.claim,
        supersedes=entry.supersedes,
        recalled_from=entry.recalled_from,
        ttl_hours=entry.ttl_hours,
        bound_agent=principal.agent,
        bound_missions=principal.seen_missions(),
        head=head(
            entry.speaker or entry.agent_name,
            occurred_at,
            *search_words(context_type, metadata, entry.tags, names),
        ),
        **msgspec.structs.asdict(indexed(text, hints)),
    )
    put.token_count = entry_tokens(msgspec.structs.asdict(put))
    return put


def restated(put: Put, content: str) -> Put:
    """The same entry with another text, whose language is detected."""
    text = entry_text(content, put.context_type, put.metadata)
    hints = Hints([*code.of_heading(text), *code.given([*put.paths, *put.symbols])])
    words = msgspec.structs.asdict(indexed(text, hints))
    new = msgspec.structs.replace(put, content=content, **words)
    new.token_count = entry_tokens(msgspec.structs.asdict(new))
    return new
