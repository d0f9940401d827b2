"""The deployment files say what the code says."""

import re
from pathlib import PurePosixPath

import pytest
import yaml

from deploy.verify import compose
from deploy.verify.tools import CHART, ROOT
from local.database import _ROLE_SETTINGS, OWNER, SERVICE_ROLES
from services.context.app import create
from services.context.gateway.passing.call import PREFIX as GATEWAY
from services.context.settings import Settings
from shared.database.tenancy import STRICT
from shared.embeddings import EmbeddingSettings

CLOSED = {"/livez", "/readyz", "/metrics"}


@pytest.fixture(scope="module")
def public_paths() -> list[str]:
    paths: list[str] = yaml.safe_load((CHART / "values.yaml").read_text())["publicPaths"]
    return paths


def test_every_setting_is_in_the_example() -> None:
    assert list(compose.example()) == []


def test_the_compose_file_hands_every_setting_on() -> None:
    assert list(compose.compose(compose.load())) == []


def test_every_route_of_context_has_a_way_in(public_paths: list[str]) -> None:
    settings = Settings(
        database_url="postgresql://x",
        redis_url="redis://x",
        cache_secrets=("x",),
        agent_memory_secrets=("x",),
        query_hash_secret="x",
        cache_url="http://x",
        agent_memory_url="http://x",
        embedding=EmbeddingSettings(),
    )
    routes = {route.path for route in create(settings).litestar.routes} | {GATEWAY}
    assert routes >= CLOSED
    outside = {route for route in routes if not any(_below(route, path) for path in public_paths)}
    assert outside <= {"/", *CLOSED}


def _below(route: str, path: str) -> bool:
    return PurePosixPath(route).is_relative_to(path)


def test_the_proxy_lets_the_same_paths_in(public_paths: list[str]) -> None:
    config = (ROOT / "deploy" / "haproxy" / "haproxy.cfg").read_text()
    listed = re.search(r"acl public path -m reg '\^\((.*?)\)", config)
    assert listed is not None
    assert listed[1].split("|") == public_paths


def test_the_roles_are_those_of_the_local_stack() -> None:
    sql = (ROOT / "deploy" / "postgres" / "roles.sql").read_text()
    assert set(re.findall(r"alter role (\w+) password", sql)) == {OWNER, *SERVICE_ROLES.values()}
    assert dict(re.findall(r"\('([\w.]+)', '(\w+)'\)", sql)) == _ROLE_SETTINGS


def test_the_policies_close_as_in_a_new_database() -> None:
    assert f"$policy${STRICT}$policy$" in (ROOT / "deploy" / "postgres" / "close_policies.sql").read_text()
