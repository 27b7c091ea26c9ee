"""The argument parsers: one a command, or all of them in one for shell completion."""

from __future__ import annotations

import argparse

from sleuth.cli import COMMANDS, load, streams
from sleuth.cli.overview import WIDEST, fitted
from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from _typeshed import SupportsWrite

    from sleuth.cli import Command


class _Layout(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=min(streams.width(), WIDEST))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return fitted(text, width)


class CommandParser(argparse.ArgumentParser):
    """Says what is wrong in one line, and leaves printing to `streams`."""

    def error(self, message: str) -> NoReturn:
        raise Refusal(f"{message}; see `{self.prog} --help`")

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        streams.show(self.format_help())


def parser_of(name: str, command: Command) -> CommandParser:
    """The parser of one command."""
    parser = CommandParser(
        prog=f"sleuth {name}", description=command.SUMMARY, formatter_class=_Layout, allow_abbrev=False
    )
    command.add_arguments(parser)
    return parser


def whole_parser() -> argparse.ArgumentParser:
    """All commands in one parser, as shell completion wants it."""
    parser = CommandParser(prog="sleuth", formatter_class=_Layout, allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="show the version")
    commands = parser.add_subparsers(dest="command")
    for name in COMMANDS:
        command = load(name)
        command.add_arguments(commands.add_parser(name, help=command.SUMMARY, description=command.SUMMARY))
    return parser
