"""Secrets are found in text of any length in linear time, and nothing else is."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.database import ROOT
from services.context.scrubbing.bodies import scrubbed
from shared.errors import Invalid
from shared.secrets.kinds import KINDS
from shared.secrets.scanning import found_in, masked, may_hold
from tests.support.attacks.secret_samples import SAMPLES, told

ANCHORS = [anchor for kind in KINDS for anchor in kind.anchors]
LONG = 200_000
SECONDS = 0.05
PROSE = "We rotated it on Monday, and agent-7 said: use the new one. "


def scrub(text: str) -> tuple[str, list[str]]:
    found = found_in(text)
    return masked(text, found), [one.kind for one in found]


def test_every_kind_has_a_sample() -> None:
    assert [kind.name for kind in KINDS].sort() == [*SAMPLES].sort()
    assert {kind.name for kind in KINDS} == SAMPLES.keys()
    assert len(KINDS) >= 45


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_secret_is_masked_and_what_is_around_it_stays(kind: str) -> None:
    before, secret = SAMPLES[kind]
    for around in ("{}", PROSE + "{}", "{} " + PROSE, PROSE + "'{}'\n" + PROSE, "KEY={}\n", "é {} 漢"):
        text = around.format(told(kind))
        clean, kinds = scrub(text)
        assert kinds == [kind], text
        assert secret not in clean
        assert clean == text.replace(secret, f"[secret: {kind}]")
        assert clean.startswith(around.split("{}")[0] + before)
        assert scrub(clean) == (clean, [])


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_secret_in_json_is_seen_however_it_is_written(kind: str) -> None:
    _, secret = SAMPLES[kind]
    document = {"content": told(kind), "tags": ["x", told(kind)], "task": {"n": [1, 2.5, None, True]}}
    plain = json.dumps(document).encode()
    slashed = json.dumps(document).replace("/", "\\/").encode()
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in told(kind))
    for body in (
        plain,
        slashed,
        json.dumps({"tags": ["x"]})[:-1].encode() + f', "content": "{escaped}"}}'.encode(),
    ):
        clean = scrubbed(body, lines=False)
        assert ("content", kind) in [(one.field, one.kind) for one in clean.secrets]
        assert secret.encode() not in clean.body
        assert secret not in json.loads(clean.body)["content"]
    clean = scrubbed(plain, lines=False)
    assert json.loads(clean.body)["task"] == document["task"]
    assert [one.field for one in clean.secrets] == ["content", "tags[1]"]


def test_a_secret_that_is_a_name_is_masked() -> None:
    secret = SAMPLES["github token"][1]
    clean = scrubbed(json.dumps({"metadata": {told("github token"): "x"}}).encode(), lines=False)
    assert secret.encode() not in clean.body
    assert [(one.field, one.kind) for one in clean.secrets] == [("metadata", "github token")]


def test_a_key_without_its_end_is_masked_as_far_as_it_goes() -> None:
    secret = SAMPLES["private key"][1].rsplit("\n", 1)[0]
    clean, kinds = scrub(f"{secret}\nand then it broke off")
    assert kinds == ["private key"]
    assert clean.endswith("]and then it broke off")


def test_a_key_in_one_line_of_a_configuration_is_masked() -> None:
    secret = SAMPLES["private key"][1].replace("\n", "\\n")
    assert scrub(f'"key": "{secret}"') == ('"key": "[secret: private key]"', ["private key"])


@pytest.mark.parametrize(
    "text",
    [
        hashlib.sha256(b"x").hexdigest(),
        "commit " + hashlib.sha1(b"x").hexdigest(),
        str(uuid.UUID(int=2**100)),
        "data:image/png;base64," + "iVBORw0KGgo" * 20,
        "https://example.com:8080/a/path?x=1#here and http://localhost:8080/@scope/package",
        "task-based risk-averse desk-1234567890 sk-learn and sk_buff in the kernel",
        "mission:apollo own:3#1 cache:12 dispatch 9223372036854775807",
        "use `Authorization: Bearer <token>` or a bearer token from the vault",
        "postgresql://user:${PASSWORD}@db/x and postgresql://user:<password>@db and redis://:***@cache",
        "npm_config_registry hf_transfer pypi-publish key-value SKU-1234 the AKIA prefix, AIza too",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "A line `-----BEGIN RSA PRIVATE KEY-----` is how such a file begins.",
        "eyJhbGciOiJIUzI1NiJ9 is the head of a token",
        "git@github.com:scrubjay/scrubjay.git ssh://git@host/x",
        "sj_ and sj_short and [secret: github token]",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert scrub(text) == (text, [])


def test_the_documents_and_the_code_hold_no_secret() -> None:
    """But addresses with a placeholder for a password."""
    files = [path for top in ("docs", "services", "shared", "tools") for path in (ROOT / top).rglob("*")]
    for path in files:
        if path.suffix in (".md", ".py", ".sql", ".json"):
            kinds = scrub(path.read_text())[1]
            assert set(kinds) <= {"password in a url"}, (path, kinds)


@given(st.text())
def test_text_without_an_anchor_is_never_touched(text: str) -> None:
    if not any(anchor in text for anchor in ANCHORS):
        assert found_in(text) == []
        # A backslash of the text itself may look like an escape: its body is read, and nothing found.
        if "\\" not in text:
            assert not may_hold(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))


@given(
    st.lists(
        st.sampled_from([*map(told, SAMPLES), *ANCHORS, " ", "\n", "/", "@", ":", "-", "A", "9"]), max_size=20
    )
)
def test_what_is_found_is_in_order_and_masking_is_final(parts: list[str]) -> None:
    text = "".join(parts)
    found = found_in(text)
    assert all(one.stop <= other.start for one, other in pairwise(found))
    clean = masked(text, found)
    assert len(found_in(clean)) <= len(found)


def seconds(text: str) -> float:
    """Of this thread, the best of three."""
    taken = []
    for _ in range(3):
        started = time.thread_time()
        masked(text, found_in(text))
        taken.append(time.thread_time() - started)
    return min(taken)


@pytest.mark.parametrize("anchor", ANCHORS)
def test_a_hostile_text_takes_linear_time(anchor: str) -> None:
    """Each anchor over and over, alone and with what its secrets hold, up to the longest content there is."""
    fillers = [
        "",
        "a",
        "A1",
        "0",
        "-",
        "_",
        ".",
        "a" * 40,
        "0" * 64,
        "a.",
        ":",
        ":a",
        "=",
        "/",
        "\n",
        "eyJ",
        "ab@",
        " ",
    ]
    units = [anchor + filler for filler in fillers]
    slow = sorted(units, key=lambda unit: seconds(unit * (4_000 // len(unit))))[-2:]
    for unit in slow:
        quarter, whole = (seconds(unit * (length // len(unit))) for length in (LONG // 4, LONG))
        assert whole < max(SECONDS, 9 * quarter), unit
    quarter, whole = (seconds(anchor + "a" * length) for length in (LONG // 4, LONG))
    assert whole < max(SECONDS, 9 * quarter)


def test_lines_keep_their_numbers() -> None:
    lines = [b'{"content": "clean"}', b"", json.dumps({"content": told("github token")}).encode(), b"{broken"]
    clean = scrubbed(b"\n".join(lines), lines=True)
    assert [(one.field, one.kind) for one in clean.secrets] == [("line 3.content", "github token")]
    assert clean.body.splitlines()[:2] == lines[:2]
    assert clean.body.splitlines()[3] == lines[3]


@pytest.mark.parametrize("body", [b"", b"{", b'"\xff"', b'{"a": "AKIA' + b"[" * 100_000, b'{"a": "ghp_" 1}'])
def test_a_body_that_cannot_be_read_stays_as_it_is(body: bytes) -> None:
    assert scrubbed(body, lines=False).body == body


def test_a_body_that_cannot_be_written_again_is_refused() -> None:
    body = json.dumps({"a": told("github token"), "n": 10**40}).encode()
    try:
        clean = scrubbed(body, lines=False)
    except Invalid:
        return
    assert SAMPLES["github token"][1].encode() not in clean.body
