"""Where the service is, and whether everything works."""

from __future__ import annotations

import sys

import click

from scrubjay._address import checked
from scrubjay.cli import settings
from scrubjay.cli.doctor import Finding, examine
from scrubjay.cli.exits import DONE, IN_PART
from scrubjay.cli.screen import Screen
from scrubjay.cli.session import JSON, TOKEN, URL, connect, given_settings
from scrubjay.cli.settings import Settings, hidden
from scrubjay.errors import ForbiddenError

_SIGNS = {"good": ("ok", "green"), "odd": ("note", "yellow"), "bad": ("wrong", "bold red")}


@click.command()
@click.argument("url", required=False)
@click.option("--agent", metavar="NAME", help="The agent as which you ask and write.")
@click.option("--mission", metavar="NAME", help="The mission in which you work.")
@click.option("--key-stdin", is_flag=True, help="Read the key from standard input, for scripts.")
def login(url: str | None, agent: str | None, mission: str | None, key_stdin: bool) -> None:
    """Store the address of your service and your key.

    The key is asked for and not shown. Both go into a file that only you can read; `scrubjay doctor` names it.
    """
    if key_stdin and not url:
        # The question for it would read the key, and show it.
        raise click.UsageError("give the address with --key-stdin")
    address = checked(url or click.prompt("Address of the service", default="http://localhost:8080"))
    key = sys.stdin.readline() if key_stdin else click.prompt("Key", hide_input=True)
    if not key.strip():
        raise ValueError("the key is empty")
    given = Settings(address, key.strip(), agent, mission)
    _try(given)
    file = settings.write(given)
    click.echo(f"The key {hidden(given.token or '')} for {address} is in {file}.")


def _try(given: Settings) -> None:
    """Raises ScrubjayError when the key opens nothing."""
    with connect(given) as client:
        try:
            client.log(limit=1).page()
        except ForbiddenError:
            # The service knows the key, which is for other things than reading.
            return


@click.command()
def logout() -> None:
    """Forget the address and the key."""
    file = settings.path()
    existed = file.exists()
    file.unlink(missing_ok=True)
    click.echo(f"{file} is deleted." if existed else "Nothing was stored.")


@click.command()
@URL
@TOKEN
@JSON
def doctor(url: str | None, token: str | None, as_json: bool) -> int:
    """Say what is wrong with your setup, and what to do about it."""
    screen = Screen(as_json)
    try:
        findings = list(examine(given_settings(url, token)))
    except ValueError as error:
        findings = [Finding("bad", str(error))]
    if screen.as_json:
        screen.jsons(findings)
    else:
        for finding in findings:
            _tell(screen, finding)
    return IN_PART if any(each.state == "bad" for each in findings) else DONE


def _tell(screen: Screen, finding: Finding) -> None:
    sign, style = _SIGNS[finding.state]
    screen.text(f"{sign:>5}  {finding.what}", style if finding.state != "good" else "")
    if finding.advice:
        screen.text(f"       {finding.advice}", "dim")


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes the Tab key complete commands in SHELL.

    \b
    bash  scrubjay completion bash > ~/.local/share/bash-completion/completions/scrubjay
    zsh   scrubjay completion zsh > ~/.zfunc/_scrubjay
    fish  scrubjay completion fish > ~/.config/fish/completions/scrubjay.fish
    """
    from click.shell_completion import get_completion_class  # only this command needs it

    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    if kind is None:
        raise ValueError(f"{shell} is not known")
    click.echo(kind(root, {}, "scrubjay", "_SCRUBJAY_COMPLETE").source())


COMMANDS = (login, logout, doctor, completion)
