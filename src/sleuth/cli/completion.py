"""`sleuth completion`: a script that teaches a shell to complete sleuth's commands, options and names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Action, ArgumentParser, Namespace
    from collections.abc import Iterator

SUMMARY = "print a completion script for your shell"

_EXAMPLES = """\
examples:
  bash   sleuth completion bash > ~/.local/share/bash-completion/completions/sleuth
  zsh    sleuth completion zsh > ~/.zfunc/_sleuth        with ~/.zfunc in fpath, before compinit
  tcsh   sleuth completion tcsh > ~/.sleuth.tcsh         and source it in ~/.tcshrc
"""

_A_FILE = ("program", "output", "export", "paths", "baseline", "stdin_filename")
_A_FOLDER = ("record", "run")
_A_DIAGNOSIS = ("name", "ignore", "select")


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), metavar="bash|zsh|tcsh", help="the shell you use")


def execute(args: Namespace) -> int:
    import shtab

    from sleuth.cli import streams
    from sleuth.cli.parser import whole_parser

    parser = whole_parser()
    for action in _actions(parser):
        _complete(action)
    streams.show(shtab.complete(parser, shell=args.shell) + "\n")
    return 0


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    from argparse import _SubParsersAction

    for action in parser._actions:
        yield action
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def _complete(action: Action) -> None:
    """Say what an argument completes to. The parsers that read arguments do without: they would be slower for it."""
    import shtab

    from sleuth import handbook
    from sleuth.cli import explain

    if action.dest in _A_FILE:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif action.dest in _A_FOLDER:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif action.dest in _A_DIAGNOSIS:
        action.choices = handbook.names()
    elif action.dest in explain.FILTERS:
        action.choices = explain.values_of(action.dest)
