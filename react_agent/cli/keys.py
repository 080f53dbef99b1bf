"""`react keys`: the keys of servers, kept where only you can read them."""

from __future__ import annotations

import sys

import click

from react_agent.cli import Group


@click.group("keys", cls=Group, short_help="Keep, list and remove keys of servers.")
def command() -> None:
    """Keep, list and remove the keys of servers, in a file that only you can read.

    NAME is a host, an address such as http://127.0.0.1:8000, or a kind of endpoint such as openai, hf or
    deepseek for its usual address. A key is sent to that scheme, host and port and nowhere else; it comes
    before OPENAI_API_KEY.
    """


@command.command("set", short_help="Keep a key.")
@click.argument("name")
def set_one(name: str) -> None:
    """Keep the key for NAME, which is asked for without showing it, or read from standard input."""
    from react_agent.cli.screen import Screen
    from react_agent.keys import keys_file, origin, set_key

    place = origin(name)
    key = click.prompt(f"Key for {place}", hide_input=True, err=True) if sys.stdin.isatty() else _piped()
    set_key(name, key.strip())
    Screen.err().line(f"The key for {place} is in {keys_file()}.")


@command.command("list", short_help="List whose keys are kept.")
def list_all() -> None:
    """List what there are keys for. The keys themselves are not shown."""
    from react_agent.cli.screen import Screen
    from react_agent.keys import read_keys

    out = Screen.out()
    for place in sorted(read_keys()):
        out.line(place)


@command.command(short_help="Forget a key.")
@click.argument("name")
@click.pass_context
def remove(ctx: click.Context, name: str) -> None:
    """Forget the key for NAME; exit code 1 if there was none."""
    from react_agent.cli.screen import Screen
    from react_agent.keys import origin, remove_key

    was_there = remove_key(name)
    Screen.err().line(f"The key for {origin(name)} {'is removed' if was_there else 'was not here'}.")
    ctx.exit(0 if was_there else 1)


def _piped() -> str:
    """The first line of standard input; a key has no second one."""
    return sys.stdin.readline(10_000)
