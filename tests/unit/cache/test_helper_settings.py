"""The settings of the helper model."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from services.cache.settings import HELPER
from shared.llm import HelperSettings, helper_from_env
from shared.settings import Env, SettingsError


def read(values: Mapping[str, str]) -> HelperSettings:
    env = Env(values)
    found = helper_from_env(env, HELPER)
    env.done()
    return found


def test_there_is_no_model_by_default() -> None:
    assert read({}).kind == "extractive"


def test_an_endpoint_of_ones_own_needs_no_key() -> None:
    values = {
        "SCRUBJAY_HELPER": "openai",
        "SCRUBJAY_HELPER_MODEL": "m",
        "SCRUBJAY_HELPER_BASE_URL": "http://h/v1/",
    }
    found = read(values)
    assert (found.model, found.api_key, found.base_url) == ("m", None, "http://h/v1")


def test_what_is_missing_or_wrong_is_named_at_once() -> None:
    with pytest.raises(SettingsError) as raised:
        read({"SCRUBJAY_HELPER": "anthropic", "SCRUBJAY_HELPER_TIMEOUT": "0"})
    assert [problem.split()[0] for problem in raised.value.problems] == [
        "SCRUBJAY_HELPER_MODEL",
        "SCRUBJAY_HELPER_API_KEY",
        "SCRUBJAY_HELPER_TIMEOUT",
    ]
    with pytest.raises(SettingsError):
        read({"SCRUBJAY_HELPER": "oracle"})


def test_a_key_is_not_shown() -> None:
    assert "secret" not in repr(HelperSettings(kind="openai", model="m", api_key="secret"))
