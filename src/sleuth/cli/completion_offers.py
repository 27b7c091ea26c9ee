"""What can be completed where, read off the parser, for shells that shtab has no script for."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import shtab

Takes = Literal["command", "nothing", "word", "file", "folder"]


@dataclass(frozen=True, slots=True)
class Offer:
    """One argument of a command: an option by its names, or a place that words fill."""

    command: tuple[str, ...]
    names: tuple[str, ...]
    takes: Takes
    values: tuple[str, ...]
    help: str


def offers(parser: ArgumentParser, command: tuple[str, ...] = ()) -> Iterator[Offer]:
    """Of a command and of all below it; a command is an offer of one word."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            summaries = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, inner in action.choices.items():
                yield Offer(command, (), "command", (name,), summaries.get(name, ""))
                yield from offers(inner, (*command, name))
        elif action.help != SUPPRESS:
            values = tuple(map(str, action.choices or ()))
            yield Offer(command, tuple(action.option_strings), _takes(action), values, _help(action))


def _takes(action: Action) -> Takes:
    if action.option_strings and action.nargs in (0, "?"):
        return "nothing"
    kind = getattr(action, "complete", None)
    return "file" if kind is shtab.FILE else "folder" if kind is shtab.DIRECTORY else "word"


def _help(action: Action) -> str:
    return (action.help or "").replace("%%", "%")
