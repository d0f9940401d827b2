from __future__ import annotations

import msgspec
import pytest

from services.cache.entries import block
from services.context import stores
from services.context.assembly import ranking
from services.context.forwarding.forward import PREFIXES
from services.context.schemas import SourceStore
from services.context.stores import CACHE, LINKS, OWN, PEERS, VAULT, Store


def test_names_and_prefixes_are_given_once() -> None:
    assert len({source.name for source in stores.SOURCES}) == len(stores.SOURCES)
    assert len(stores.BY_PREFIX) == len(stores.SOURCES)


def test_a_query_of_the_cache_shows_handles_and_counts_age_as_assemblies_do() -> None:
    assert CACHE.prefix == block.HANDLE
    assert CACHE.half_life_hours == block.HALF_LIFE_HOURS
    assert block.RECENCY_FLOOR == ranking.RECENCY_FLOOR


@pytest.mark.parametrize("store", stores.STORES, ids=lambda store: store.name)
def test_the_routes_of_a_store_are_passed_on_to_its_owner(store: Store) -> None:
    assert store.item_path.startswith(store.path + "/")
    assert PREFIXES[store.path] == store.owner


@pytest.mark.parametrize("store", stores.STORES, ids=lambda store: store.name)
def test_the_api_takes_the_name_of_a_store(store: Store) -> None:
    assert msgspec.convert(store.name, SourceStore) == store.name


@pytest.mark.parametrize("name", ["nowhere", LINKS.name])
def test_the_api_takes_no_other_name(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(name, SourceStore)


def test_where_each_store_is_searched() -> None:
    scopes = ["mission:a", "user:u", "mission:b", "shared"]
    assert CACHE.scopes(scopes) == ["mission:a", "mission:b"]
    assert CACHE.scopes(["user:u"]) is None
    assert [store.scopes(scopes) for store in (OWN, PEERS)] == [[], []]


def test_handles() -> None:
    text = "see own:3#1, cache:12. peer:0 vault:1 link:notes/a%20b.md] and recache:7"
    assert stores.HANDLE.findall(text) == ["own:3#1", "cache:12", "vault:1", "link:notes/a%20b.md"]
    assert [
        OWN.handle(3, 1),
        CACHE.handle(12),
        VAULT.handle(1),
        LINKS.handle("notes/a%20b.md"),
    ] == stores.HANDLE.findall(text)
    assert [stores.name_of(handle) for handle in ("own:3#1", "link:x", "gone:1")] == [
        OWN.name,
        LINKS.name,
        "gone",
    ]
