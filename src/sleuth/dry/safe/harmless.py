"""Which commands may really run: those that only ask, and change nothing whatever they are given."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

_ASK_ONLY = frozenset(
    "arch basename cat dirname df du echo false free getconf grep groups head hostid id ldd ls lscpu lsmod lspci lsb_release"
    " nproc nvidia-smi printenv printf ps pwd readlink realpath rocm-smi stat sw_vers tail test true tty uname uptime vm_stat"
    " wc which whoami fc-list".split()
)
# These only ask with one of these as their first argument.
_ASK_WITH = {
    "git": "rev-parse describe log status show diff ls-files ls-tree rev-list name-rev cat-file version --version".split(),
    "ldconfig": ["-p"],
    "sysctl": ["-n"],
    "scontrol": ["show"],
    "tput": ["cols", "lines", "colors"],
    "stty": ["size", "-a"],
    **dict.fromkeys(("hostname", "date"), [""]),
    **dict.fromkeys(
        ("gcc", "g++", "cc", "c++", "clang", "clang++", "nvcc", "hipcc", "icx", "icpx", "ninja", "cmake", "make", "ld"),
        "--version -v -V -dumpversion -dumpfullversion -dumpmachine -print-search-dirs".split(),
    ),
}
# And these make some of them write, or run something else.
_NEVER = ("--output", "--ext-diff", "--open-files-in-pager", "--textconv", "-c", "--config-env", "--upload-pack", "--exec")
_GPU_SETTINGS = frozenset(
    "-pm -e -p -c -r -ac -rac -pl -am -caa -acp -lgc -rgc -lmc -rmc -mig -f -gtt -cc drain vgpu mig -i".split()
) - {"-i"}
_JOINTS = frozenset(("|", "||", "&&", ";"))
_NOWHERE = ("/dev/null", "&1", "&2")


def harmless(command: Sequence[str]) -> bool:
    """May this command, given as a list of words, really run?"""
    if not command:
        return False
    name, arguments = os.path.basename(command[0]), list(command[1:])
    if any(argument.startswith(_NEVER) for argument in arguments) and name in ("git", "nvidia-smi"):
        return False
    if name in ("nvidia-smi", "rocm-smi"):
        return not any(argument.partition("=")[0] in _GPU_SETTINGS for argument in arguments)
    if name == "git" and arguments[:1] == ["-C"]:
        arguments = arguments[2:]
    if name in _ASK_WITH:
        first = arguments[0] if arguments else ""
        return first in _ASK_WITH[name] or (name == "date" and first.startswith("+")) or (name == "hostname" and first[:1] == "-" and first not in ("-F", "-b", "--file", "--boot"))
    return name in _ASK_ONLY


def harmless_line(line: str) -> bool:
    """May this line really be given to a shell? Only if each command in it may run and nothing is written to a file."""
    if any(mark in line for mark in ("$(", "`", "<(", ">(", "\n")):
        return False
    try:
        words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
    except ValueError:
        return False
    return all(harmless(command) for command in _commands(words))


def _commands(words: list[str]) -> list[list[str]]:
    """The single commands of a line; an empty one stands for what is not understood."""
    commands: list[list[str]] = [[]]
    rest = iter(words)
    for word in rest:
        if word in _JOINTS:
            commands.append([])
        elif word in (">", ">>", ">&", "&>", "<"):
            target = next(rest, "")
            if word != "<" and target not in (*_NOWHERE, "1", "2"):
                return [[]]
            if commands[-1] and commands[-1][-1] in ("1", "2"):
                commands[-1].pop()
        elif set(word) <= set("();<>|&"):
            return [[]]
        else:
            commands[-1].append(word)
    return commands
