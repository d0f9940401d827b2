"""/metrics behind SCRUBJAY_METRICS."""

from __future__ import annotations

import aiohttp
import pytest

from shared.settings import Env, SettingsError
from shared.telemetry.scraping import Scraping
from tests.integration.shared.web.served import make, serving

OLD, NEW = "the-scrapers-token", "the-scrapers-next-token"
LOOPBACK, ANY = "127.0.0.1", "0.0.0.0"


def read(value: str, host: str = ANY) -> Scraping:
    env = Env({"SCRUBJAY_METRICS": value})
    scraping = Scraping.from_env(env, host)
    env.done()
    return scraping


@pytest.mark.parametrize(
    ("value", "host", "is_open"),
    [
        ("", LOOPBACK, True),
        ("", ANY, False),
        ("open", ANY, True),
        ("closed", LOOPBACK, False),
        (OLD, LOOPBACK, False),
    ],
)
def test_metrics_are_open_by_default_only_to_this_machine(value: str, host: str, is_open: bool) -> None:
    assert read(value, host).open is is_open


@pytest.mark.parametrize("value", ["opne", "open,closed", f"open,{OLD}", "short", f"{OLD},short"])
def test_a_weak_token_or_a_misspelt_word_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(SettingsError, match="SCRUBJAY_METRICS must be") as caught:
        read(value)
    assert OLD not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "authorization", "status"),
    [
        ("open", "", 200),
        ("closed", "", 401),
        ("closed", "Bearer ", 401),
        ("closed", "Bearer closed", 401),
        (OLD, "", 401),
        (OLD, "Bearer", 401),
        (OLD, f"Basic {OLD}", 401),
        (OLD, f"Bearer {OLD[:-1]}", 401),
        (OLD, f"Bearer {OLD}ü", 401),
        (OLD, f"Bearer {OLD}", 200),
        (OLD, f"bearer  {OLD}", 200),
        (f"{OLD},{NEW}", f"Bearer {NEW}", 200),
    ],
)
async def test_only_a_scraper_with_the_token_reads_metrics(
    value: str, authorization: str, status: int
) -> None:
    async with serving(make(8, read(value))) as port, aiohttp.ClientSession() as session:
        headers = {"authorization": authorization} if authorization else {}
        async with session.get(f"http://127.0.0.1:{port}/metrics", headers=headers) as answer:
            text = await answer.text()
            assert answer.status == status
            assert ("python_info" in text) == (status == 200)
        async with session.get(f"http://127.0.0.1:{port}/livez") as answer:
            assert answer.status == 200
