"""Renders a ranked candidate for a block. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from services.context import stores
from services.context.assembly.ranking import Ranked
from services.context.profiles.schemas import Profile
from services.context.stores import LINKS, PROFILES
from shared.packing import tokens_of_line
from shared.render import Fence, render_header, with_header
from shared.search.evidence import Candidate


class File(Candidate, omit_defaults=True):
    """A file that the request linked."""

    path: str = ""


class ProfileItem(Candidate, omit_defaults=True):
    """The profile of an agent or a user, which its scope names."""


def handle_of(candidate: Candidate, store: str) -> str:
    """`store:id`, with `#chunk` if the item has several. For a file and a profile, its name, percent-encoded."""
    if isinstance(candidate, File):
        return LINKS.handle(quote(candidate.path, safe="/._-~"))
    if isinstance(candidate, ProfileItem):
        return PROFILES.handle(quote(candidate.scope, safe=":/._-~"))
    return stores.BY_NAME[store].handle(candidate.id, candidate.chunk if candidate.chunks > 1 else None)


def profile_item(profile: Profile) -> ProfileItem:
    return ProfileItem(
        id=0,
        scope=profile.scope,
        kind="profile",
        text=profile.text,
        created_at=profile.updated_at,
        source_kind=profile.source_kind,
        source_claim=profile.source_claim,
    )


def handle(ranked: Ranked) -> str:
    return handle_of(ranked.candidate, ranked.store)


def header(ranked: Ranked, fence: Fence, marks: Iterable[str] = ()) -> str:
    """`marks` end it."""
    candidate = ranked.candidate
    was = [] if ranked.was is None else [f"was: {ranked.was}"]
    return render_header(handle(ranked), candidate.time, [*candidate.header, *marks, *was], fence)


def render(ranked: Ranked, fence: Fence) -> str:
    """The whole item."""
    return with_header(header(ranked, fence), ranked.candidate.text)


def size(ranked: Ranked, fence: Fence) -> int:
    """The tokens of the whole item."""
    return tokens_of_line(render(ranked, fence))
