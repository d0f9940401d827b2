"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from datetime import datetime

from scrubjay._call import Call, PagedCall, fields, path
from scrubjay.models import (
    FileLines,
    FilePartAnswer,
    FoundFiles,
    Language,
    LastRun,
    PutFileResult,
    RemovedFile,
    VaultFile,
    VaultFiles,
)


def put(
    text: str | None = None,
    *,
    path: str,
    content: str | None = None,
    piece: int | None = None,
    pieces: int | None = None,
    occurred_at: datetime | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[PutFileResult]:
    """Store a text file in the vault, where search and assembly find it. The same text again changes
    nothing. A larger file comes in pieces, in order.

    Args:
        path: Where the file lies in the vault. Its first folders say whose it is: `agents/<name>/`,
            `missions/<name>/`, `users/<name>/`, or `shared/`.
        text: The whole file, or a piece of it. That of an HTML file is converted to Markdown.
        content: Instead of `text`, a file of another format in base64: PDF, office, EPUB. Its text is
            taken out of it.
        piece: The number of the piece. Pieces come in order; the first one replaces the file. Default:
            `1`.
        pieces: How many pieces there are. Default: `1`.
        occurred_at: When the file was last changed.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/vault/files",
        answer=PutFileResult,
        seconds=30.0,
        repeatable=True,
        body=fields(
            path=path, text=text, content=content, piece=piece, pieces=pieces, occurred_at=occurred_at
        ),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def list_(
    *,
    folder: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[VaultFiles, VaultFile]:
    """List the files that can be found, by path.

    Args:
        folder: Only files whose path begins so.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/vault/files",
        answer=VaultFiles,
        seconds=2.0,
        repeatable=True,
        query={"folder": folder, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def remove(
    *,
    path: str,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[RemovedFile]:
    """Remove an uploaded file. One that is indexed from the tenant's folder has to be removed there.

    Args:
        path: The path of the file.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path="/api/vault/files",
        answer=RemovedFile,
        seconds=5.0,
        repeatable=True,
        query={"path": path},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def part(
    file_id: int,
    *,
    timeout: float | None = None,
) -> Call[FilePartAnswer]:
    """Get the part of a file behind a handle `vault:<id>`.

    Args:
        file_id: The id of a file's part, as in its handle.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/vault/files/{file_id}", file_id=file_id),
        answer=FilePartAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def index(
    *,
    timeout: float | None = None,
) -> Call[LastRun]:
    """How far the last run over the tenant's folder is, and which files it refused, each with the reason.

    Args:
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET", path="/api/vault/index", answer=LastRun, seconds=2.0, repeatable=True, timeout=timeout
    )


def read(
    *,
    path: str,
    timeout: float | None = None,
) -> Call[FileLines]:
    """Read lines of a file: as they are indexed, or else from the tenant's folder.

    Args:
        path: The path of the file, and the lines to read: `path#L10-L40`. By default, all lines.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/vault/read",
        answer=FileLines,
        seconds=2.0,
        repeatable=True,
        query={"path": path},
        timeout=timeout,
    )


def search(
    query: str,
    *,
    agent_name: str | None = None,
    mission_namespace: str | None = None,
    user_id: str | None = None,
    folder: str | None = None,
    language: Language | None = None,
    limit: int | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[FoundFiles]:
    """Search the files that the key may read. Answers the best passage of each, the most relevant first.

    Args:
        query: A question, or what is wanted.
        agent_name: Search this agent's folder and what belongs to no agent, mission or user.
        mission_namespace: Search this mission's folder and what belongs to no agent, mission or user.
        user_id: Search this user's folder and what belongs to no agent, mission or user.
        folder: Only files whose path begins so.
        language: The language of the query, detected by default.
        limit: At most this many items. Default: `10`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_namespace`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/vault/search",
        answer=FoundFiles,
        seconds=2.0,
        repeatable=True,
        body=fields(
            query=query,
            agent_name=agent_name,
            mission_namespace=mission_namespace,
            user_id=user_id,
            folder=folder,
            language=language,
            limit=limit,
            agent=agent,
            mission=mission,
        ),
        timeout=timeout,
    )
