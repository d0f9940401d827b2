"""What statements lose in the control of the proof of tenants."""

from __future__ import annotations

import pytest

from proofs.isolation.forgetful import forgotten
from shared.database.postgres import _as_tenant
from shared.database.tenancy import alone

NAMED = _as_tenant("it's \\")


@pytest.mark.parametrize(
    ("query", "without"),
    [
        (
            "select from t where tenant = $1 and id = $2",
            "select from t where $1::text is not null and id = $2",
        ),
        ("where e.tenant = $1 or e.tenant = $12", "where $1::text is not null or e.tenant = $12"),
        ("where u.tenant = k.tenant", "where u.tenant = k.tenant"),
        (f"BEGIN; {NAMED}; select 1", "BEGIN; SET LOCAL scrubjay.every_tenant = 'on'; select 1"),
    ],
)
def test_the_tenant_is_no_longer_compared_with(query: str, without: str) -> None:
    assert forgotten(query) == without


def test_a_query_alone_sees_every_tenant() -> None:
    query = forgotten(alone("select * from t where tenant = $1"))
    assert "scrubjay.tenant" not in query
    assert "set_config('scrubjay.every_tenant'" in query
