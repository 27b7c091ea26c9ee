"""`sleuth ask`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "which known problem an error, a log or a question describes, and what to run next"


def add_arguments(parser: ArgumentParser) -> None:
    pass


def execute(args: Namespace) -> int:
    raise NotImplementedError
