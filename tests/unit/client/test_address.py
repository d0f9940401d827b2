"""A client's address: what cannot be right is refused before anything waits for it."""

import socket
import time
from typing import Any

import pytest

import scrubjay
from scrubjay import AsyncClient, Client

SLOW = 10.0


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("localhost:8080", "http://"),
        ("127.0.0.1:8080", "http://"),
        ("//localhost:8080", "http://"),
        ("ftp://localhost", "http://"),
        ("http://", "host"),
        ("http://:8080", "host"),
        ("http://local host:8080", "host"),
        (" http://localhost:8080", "spaces"),
        ("http://localhost:8080\n", "spaces"),
        ("http://localhost:eighty", "not a URL"),
        ("http://localhost:99999", "not a URL"),
        ("http://me:secret@localhost", "more than"),
        ("http://localhost:8080?tenant=acme", "more than"),
    ],
)
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_an_address_that_cannot_be_right_is_refused(client: type, url: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        client(url, "token")
    assert "http://localhost:8080" in str(caught.value)


@pytest.mark.parametrize("url", ["sj_abcdefghij", "http://me:abcdefghij@localhost"])
def test_a_secret_in_the_place_of_the_address_is_not_shown(url: str) -> None:
    with pytest.raises(ValueError, match="SCRUBJAY_URL") as caught:
        Client(url, "token")
    assert "abcdefghij" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://localhost:8080", "https://jay.example/", "http://[::1]:8080/prefix/"]
)
def test_others_are_taken(url: str) -> None:
    Client(url, "token").close()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCRUBJAY_URL", raising=False)
    monkeypatch.delenv("SCRUBJAY_TOKEN", raising=False)
    with pytest.raises(ValueError, match="SCRUBJAY_URL and SCRUBJAY_TOKEN"):
        Client()
    with pytest.raises(ValueError, match=r"set SCRUBJAY_TOKEN$"):
        Client("http://localhost:8080")


@pytest.mark.parametrize("end", ["\n", "\r\n", " ", "\t", "\x7f", "ä"])
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(client: type, end: str) -> None:
    with pytest.raises(ValueError, match="SCRUBJAY_TOKEN") as caught:
        client("http://localhost:8080", f"sj_secret{end}")
    assert "secret" not in str(caught.value)


@pytest.fixture
def no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)


@pytest.mark.usefixtures("no_names")
def test_an_unknown_host_is_refused_at_the_first_call() -> None:
    begun = time.monotonic()
    with Client("http://scrubjay.invalid", "token", retries=100) as client:
        with pytest.raises(scrubjay.UnknownHostError, match="SCRUBJAY_URL"):
            client.cache.entry(1)
        with pytest.raises(scrubjay.UnknownHostError):
            next(client.events())
    assert time.monotonic() - begun < SLOW


@pytest.mark.usefixtures("no_names")
async def test_an_unknown_host_is_refused_at_the_first_call_that_is_awaited() -> None:
    begun = time.monotonic()
    async with AsyncClient("http://scrubjay.invalid", "token", retries=100) as client:
        with pytest.raises(scrubjay.UnknownHostError, match="SCRUBJAY_URL"):
            await client.cache.entry(1)
        with pytest.raises(scrubjay.UnknownHostError):
            await anext(client.events())
    assert time.monotonic() - begun < SLOW


def test_a_stream_that_never_opened_gives_up() -> None:
    with Client("http://127.0.0.1:9", "token", retries=0) as client, pytest.raises(scrubjay.NotReachedError):
        next(client.events())
