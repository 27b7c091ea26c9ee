"""`sleuth completion`: a script that teaches a shell to complete sleuth's commands, options and names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Action, ArgumentParser, Namespace
    from collections.abc import Iterator

SUMMARY = "print a completion script for your shell"
EXAMPLE = "sleuth completion bash"

SHELLS = ("bash", "zsh", "tcsh", "fish", "powershell")

_EXAMPLES = """\
examples:
  bash   sleuth completion bash > ~/.local/share/bash-completion/completions/sleuth
  zsh    sleuth completion zsh > ~/.zfunc/_sleuth        with ~/.zfunc in fpath, before compinit
  tcsh   sleuth completion tcsh > ~/.sleuth.tcsh         and source it in ~/.tcshrc
  fish   sleuth completion fish > ~/.config/fish/completions/sleuth.fish
  PowerShell   sleuth completion powershell >> $PROFILE
"""

_A_FILE = ("program", "output", "export", "paths", "baseline", "stdin_filename")
_A_FOLDER = ("record", "run")
_A_DIAGNOSIS = ("name", "ignore", "select")
_FILES_IN_STUDY = (
    *("sources", "into", "output", "labels", "sample", "without"),
    *("texts", "embeddings", "train_to", "apply", "classifier"),
)
_FOLDERS_IN_STUDY = ("corpus", "figures")
_NAMES_IN_STUDY = {
    "name": "label/codebooks/*.toml",
    "codebook": "label/codebooks/*.toml",
    "preset": "select/presets/*.toml",
    "show": "select/presets/*.toml",
    "study": "studies/*.toml",
    "names": "analyses/[a-z]*.py",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", choices=SHELLS, metavar="|".join(SHELLS), help="the shell you use")


def execute(args: Namespace) -> int:
    from sleuth.cli import streams
    from sleuth.cli.parser import whole_parser

    parser = whole_parser()
    for command, action in _actions(parser):
        if command[:1] == ("study",):
            _complete_in_study(action)
        else:
            _complete(action)
    streams.show(_script(parser, args.shell) + "\n")
    return 0


def _script(parser: ArgumentParser, shell: str) -> str:
    if shell == "fish":
        from sleuth.cli import completion_fish

        return completion_fish.script(parser)
    if shell == "powershell":
        from sleuth.cli import completion_powershell

        return completion_powershell.script(parser)
    import shtab

    return str(shtab.complete(parser, shell=shell))


def _actions(parser: ArgumentParser, command: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Action]]:
    """Every argument, with the command that it is of."""
    from argparse import _SubParsersAction

    for action in parser._actions:
        yield command, action
        if isinstance(action, _SubParsersAction):
            for name, subparser in action.choices.items():
                yield from _actions(subparser, (*command, name))


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


def _complete_in_study(action: Action) -> None:
    """Its steps mean other things by names such as --kind and --engine. Names are those of the files that hold them:
    the packages that would list them may not be installed."""
    from pathlib import Path

    import shtab

    import sleuth

    if action.dest in _NAMES_IN_STUDY:
        found = Path(sleuth.__file__).parent.joinpath("study").glob(_NAMES_IN_STUDY[action.dest])
        action.choices = sorted(path.stem for path in found)
    elif action.dest in _FILES_IN_STUDY:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif action.dest in _FOLDERS_IN_STUDY:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
