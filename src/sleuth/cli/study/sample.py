"""`sleuth study sample`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "sample"


def add_arguments(parser: ArgumentParser) -> None:
    pass


def execute(args: Namespace) -> int:
    raise NotImplementedError
