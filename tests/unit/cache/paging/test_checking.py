"""Which summaries of a model are kept, and what they may say of themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.cache.sessions.summarizing.checking import checked
from services.cache.sessions.summarizing.making import Text, make
from services.cache.sessions.summarizing.queries import Made
from shared.llm.prompts import Shortened, SummaryFields

TEXT = "".join(
    f"def step_{number}(event):\n    total = event.amount + {number}\n    return total\n\n"
    for number in range(60)
)
DETAILED = "Sixty functions, step_0 and so on, return a total. " * 20
COMPACT = "Sixty functions, step_0 and so on, return a total. " * 4


def plain() -> Made:
    made = make(Text(TEXT, "a.py"))
    assert made is not None
    return made


def written(
    detailed: str = DETAILED,
    compact: str = COMPACT,
    losses: tuple[str, ...] = ("step_9", "not in the text"),
    can_answer: tuple[str, ...] = ("step_0",),
) -> SummaryFields:
    return SummaryFields(
        Shortened(detailed, [*losses], [*can_answer]), Shortened(compact, [], []), ["step_0", "made_up"]
    )


def test_what_is_kept_says_what_it_lost() -> None:
    made = checked(written(), TEXT, plain())
    assert made is not None
    assert made.losses_l1[0] == "step_9"
    # Names of the text that neither the model nor its summary mentions.
    assert "step_1" in made.losses_l1
    assert "not in the text" not in made.losses_l1
    assert made.can_answer_l1 == ["step_0"]
    assert "made_up" not in made.key_entities


def test_lies_and_wrong_sizes_are_not_kept() -> None:
    for each in (
        written(losses=("step_0",)),
        written(losses=("",)),
        written(can_answer=("step_59",)),
        written(can_answer=("Sixty",)),
        written(detailed=DETAILED + "see step_77()"),
        written(detailed=DETAILED * 3),
        written(detailed="short"),
        written(compact=DETAILED),
        written(compact=""),
    ):
        assert checked(each, TEXT, plain()) is None, each


_NAMES = st.lists(st.sampled_from(["step_0", "step_1", "total", "", "a total", "x", "Sixty"]), max_size=6)


@given(_NAMES, _NAMES)
def test_whatever_is_kept_is_true(losses: list[str], can_answer: list[str]) -> None:
    made = checked(written(losses=tuple(losses), can_answer=tuple(can_answer)), TEXT, plain())
    if made is not None:
        assert not any(loss.lower() in DETAILED.lower() for loss in made.losses_l1)
        assert all(name in DETAILED and name in TEXT for name in made.can_answer_l1)
        assert not any(loss.lower() in COMPACT.lower() for loss in made.losses_l2)
