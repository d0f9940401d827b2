"""Where a conversation is cut: at most at two thirds, and never between a call of a tool and its result."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from services.cache.sessions.trail.cutting import Message, oldest, places

IDS = st.frozensets(st.sampled_from("abcd"), max_size=2)
MESSAGES = st.lists(
    st.builds(
        Message, seq=st.just(0), tokens=st.just(1), calls=IDS, answers=IDS, from_assistant=st.booleans()
    ),
    max_size=14,
)


def parted(messages: Sequence[Message], count: int, answered: frozenset[str] = frozenset()) -> bool:
    """Whether a cut behind so many messages leaves a call before it whose result is, or may yet come, behind it."""
    for place, message in enumerate(messages[:count]):
        later = messages[place + 1 :]
        for call in message.calls - message.answers:
            own = next((n for n, each in enumerate(later) if call in each.calls - each.answers), len(later))
            results = [place + 1 + n for n, each in enumerate(later[: own + 1]) if call in each.answers]
            if any(result >= count for result in results):
                return True
            went_on = any(each.from_assistant for each in later)
            if not results and own == len(later) and (not went_on or call in answered):
                return True
    return False


@settings(max_examples=1_000)
@given(MESSAGES, IDS)
def test_every_place_is_judged_as_a_plain_search_judges_it(
    messages: list[Message], answered: frozenset[str]
) -> None:
    plain = [not parted(messages, count, answered) for count in range(len(messages) + 1)]
    assert places(messages, answered) == plain
    most = len(messages) * 2 // 3
    assert oldest(messages, answered) == max(
        (count for count in range(1, most + 1) if plain[count]), default=0
    )


@given(st.integers(1, 40), st.data())
def test_two_thirds_go_where_each_result_follows_its_call(turns: int, data: st.DataObject) -> None:
    messages: list[Message] = []
    for turn in range(turns):
        calls = frozenset(f"{turn}-{n}" for n in range(data.draw(st.integers(0, 3))))
        messages += [Message(0, 1), Message(0, 1, calls, from_assistant=True)]
        messages += [Message(0, 1, answers=calls)] if calls else []
    cut = oldest(messages)
    assert len(messages) * 2 // 3 - 1 <= cut <= len(messages) * 2 // 3
    called = frozenset[str]().union(*(each.calls for each in messages[:cut]))
    assert called == frozenset[str]().union(*(each.answers for each in messages[:cut]))


def test_a_call_that_never_got_a_result_holds_nothing_up_once_the_assistant_went_on() -> None:
    call = Message(1, 1, frozenset("a"), from_assistant=True)
    went_on = [call, *(Message(n, 1, from_assistant=n % 2 == 0) for n in range(2, 10))]
    assert oldest(went_on) == 6
    assert oldest([Message(0, 1), call, *(Message(n, 1) for n in range(2, 10))]) == 1
    assert oldest(went_on, answered=frozenset("a")) == 0
