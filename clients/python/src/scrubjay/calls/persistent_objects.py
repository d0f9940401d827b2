"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from scrubjay._call import Call, PagedCall, path
from scrubjay.models import ForgottenObject, PersistentAnswer, PersistentObject, PersistentObjects


def list_(
    *,
    user_id: str,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[PersistentObjects, PersistentObject]:
    """List what is kept for a user, newest first, with the confidence that is left of each.

    Args:
        user_id: Whose they are.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/persistent-objects",
        answer=PersistentObjects,
        seconds=2.0,
        repeatable=True,
        query={"user_id": user_id, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def get(
    persistent_id: str,
    *,
    timeout: float | None = None,
) -> Call[PersistentAnswer]:
    """Get what is kept for a user.

    Args:
        persistent_id: The id of what is kept for a user.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/persistent-objects/{persistent_id}", persistent_id=persistent_id),
        answer=PersistentAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def forget(
    persistent_id: str,
    *,
    timeout: float | None = None,
) -> Call[ForgottenObject]:
    """Erase what is kept for a user. The objects of sessions stay as they are.

    Args:
        persistent_id: The id of what is kept for a user.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path=path("/api/persistent-objects/{persistent_id}", persistent_id=persistent_id),
        answer=ForgottenObject,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def reinforce(
    persistent_id: str,
    *,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[PersistentAnswer]:
    """Confirm what is kept for a user: half of the confidence that it lacks comes back, and its time
    begins anew.

    Args:
        persistent_id: The id of what is kept for a user.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/persistent-objects/{persistent_id}/reinforce", persistent_id=persistent_id),
        answer=PersistentAnswer,
        seconds=5.0,
        repeatable=True,
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )
