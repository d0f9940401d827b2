"""Events keep their bytes, wherever a stream is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.context.gateway.events import Event, Splitter, data_of, with_data

_BITS = st.sampled_from(
    [b"data: a", b"data:", b"event: x", b": c", b"\n", b"\r", b"\r\n", b"\n\n", b"\xc3\xa9", b"id"]
)
_STREAMS = st.lists(_BITS, max_size=40).map(b"".join)


def events_of(stream: bytes, places: list[int]) -> list[Event]:
    splitter, events, at = Splitter(), [], 0
    for place in [*sorted(place % (len(stream) + 1) for place in places), len(stream)]:
        events += splitter.feed(stream[at:place])
        at = place
    return [*events, *splitter.end()]


@given(_STREAMS, st.lists(st.integers(0, 400), max_size=12))
def test_any_split_gives_the_same_bytes_and_events(stream: bytes, places: list[int]) -> None:
    events = events_of(stream, places)
    assert b"".join(event.raw for event in events) == stream
    assert events == events_of(stream, [])
    assert events == events_of(stream, [*range(len(stream))])


def test_what_an_event_holds() -> None:
    stream = b"event: a\ndata: 1\ndata:2\n\n: ping\r\n\r\ndata: 3\r\rdata: half"
    assert [event.data for event in events_of(stream, [])] == [b"1\n2", None, b"3", None]


def test_other_data_leaves_the_other_lines() -> None:
    raw = b"event: a\r\nid: 7\r\ndata: 1\r\ndata: 2\r\n\r\n"
    event = Event(raw, data_of(raw))
    assert with_data(event, b"{}") == b"event: a\r\nid: 7\r\ndata: {}\r\n\r\n"


def test_a_long_event_in_small_pieces_takes_linear_time() -> None:
    splitter = Splitter()
    given = [splitter.feed(b"x" * 64) for _ in range(40_000)]
    assert not any(given)
    assert len(splitter.end()[0].raw) == 64 * 40_000
