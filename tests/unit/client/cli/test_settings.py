"""Where the key lies, and what is shown of it and of what is stored."""

import io
from pathlib import Path

import pytest

from scrubjay.cli import settings
from scrubjay.cli.exits import WRONG
from scrubjay.cli.main import main
from scrubjay.cli.screen import cell, plain, shortened
from scrubjay.cli.settings import Settings

KEY = "sj_" + "abcdefghij" * 4


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in settings.NAMES:
        monkeypatch.delenv(f"SCRUBJAY_{name.upper()}", raising=False)
    return tmp_path


def test_the_file_is_its_owner_s_alone_and_the_environment_counts_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = Settings("http://localhost:8080", KEY, 'a "quoted" näme', None)
    file = settings.write(given)
    assert file.stat().st_mode & 0o777 == 0o600
    assert settings.read() == given
    monkeypatch.setenv("SCRUBJAY_AGENT", "scout")
    assert settings.read().agent == "scout"
    assert settings.write(Settings("http://other", KEY)).read_text().count(KEY) == 1


def test_a_file_that_others_can_read_is_refused_with_what_to_do() -> None:
    file = settings.write(Settings("http://localhost:8080", KEY))
    file.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        settings.read()


@pytest.mark.parametrize("text", ["url = ", "\udcff", "url = [1"])
def test_a_file_that_is_none_is_refused_with_what_to_do(text: str) -> None:
    file = settings.write(Settings("http://localhost:8080", KEY))
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match="scrubjay login"):
        settings.read()


def test_a_private_file_is_replaced_once_all_is_written(own: Path) -> None:
    file = own / "made.key"
    file.write_text("before")
    with pytest.raises(UnicodeEncodeError), settings.private(file) as out:
        out.write("half\ud800")
    assert [path.name for path in own.iterdir()] == ["made.key"]
    assert file.read_text() == "before"
    with settings.private(file) as out:
        out.write("after")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("after", 0o600)


def test_a_key_is_never_shown_whole() -> None:
    assert settings.hidden(KEY) == "sj_ab…ghij"
    assert settings.hidden("short") == "…"


def test_a_key_on_standard_input_is_not_taken_for_the_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    assert main(["login", "--key-stdin"]) == WRONG
    out, err = capsys.readouterr()
    assert "give the address" in err
    assert KEY not in out + err


def test_a_key_that_answers_the_question_for_the_address_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    assert main(["login"]) == WRONG
    out, err = capsys.readouterr()
    assert "SCRUBJAY_URL" in err
    assert KEY not in out + err


def test_what_is_stored_does_not_steer_the_terminal() -> None:
    assert plain("a\x1b[2J\u202eb\nc") == "a\ufffd[2J\ufffdb\nc"
    assert cell("\x07") == "\ufffd"
    assert shortened("a\nb" * 200, 10) == "a ba ba b…"
