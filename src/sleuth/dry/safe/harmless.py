"""Which commands may really run: those that only ask, and change nothing whatever they are given."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from sleuth.dry.safe import python_questions

_ASK_ONLY = frozenset(
    "arch basename cat df dirname du echo false fc-list free getconf grep groups head hostid id ldd ls lsb_release"
    " lscpu lsmod lspci nproc printenv printf ps pwd readlink realpath stat sw_vers tail test true tty uname uptime"
    " vm_stat wc which whoami".split()
)
_COMPILERS = "c++ cc clang clang++ g++ gcc hipcc icpx icx ld nvcc".split()
_COMPILERS_ASK = "--version -v -V -dumpversion -dumpfullversion -dumpmachine -print-search-dirs".split()
# These only ask when their arguments begin so; "" is no argument at all.
_ASK_WITH = {
    "date": ["", "-u"],
    "hostname": ["", "-f", "-s", "-i", "-I", "-d", "-A", "--fqdn", "--short", "--ip-address", "--all-ip-addresses"],
    "ldconfig": ["-p"],
    "cmake": ["--version"],
    "make": ["--version"],
    "ninja": ["--version"],
    "scontrol": ["show"],
    "stty": ["size", "-a"],
    "sysctl": ["-n"],
    "tput": ["cols", "lines", "colors"],
    "git": [
        *"--version cat-file describe diff log ls-files ls-tree name-rev rev-list rev-parse show status".split(),
        *("branch --show-current", "config --get", "config --list", "remote -v", "remote get-url"),
    ],
}
# These make git write, or run something else.
_GIT_NEVER = ("--output", "--ext-diff", "--textconv", "-c", "--config-env", "--exec")
_GPU_QUESTIONS = (
    "--query",
    "--format",
    "-L",
    "--list-gpus",
    "-q",
    "-i",
    "--id",
    "-d",
    "--display",
    "-h",
    "--version",
    "--show",
)
_JOINTS = frozenset(("|", "||", "&&", ";"))
_NOWHERE = ("/dev/null", "&1", "&2")


def harmless(command: Sequence[str]) -> bool:
    """May this command, given as a list of words, really run?"""
    if not command:
        return False
    name, arguments = os.path.basename(command[0]), list(command[1:])
    if name in ("nvidia-smi", "rocm-smi"):
        return _only_asks_the_card(arguments)
    if python_questions.is_python(name):
        return python_questions.only_asks(arguments)
    if name == "git":
        if any(argument.startswith(_GIT_NEVER) for argument in arguments):
            return False
        arguments = arguments[2:] if arguments[:1] == ["-C"] else arguments
    if name in _COMPILERS:
        return bool(arguments) and all(argument in _COMPILERS_ASK for argument in arguments)
    if name not in _ASK_WITH:
        return name in _ASK_ONLY
    first, both = " ".join(arguments[:1]), " ".join(arguments[:2])
    return first in _ASK_WITH[name] or both in _ASK_WITH[name] or (name == "date" and first.startswith("+"))


def _only_asks_the_card(arguments: list[str]) -> bool:
    if arguments and not arguments[0].startswith("-"):
        return arguments[0] == "topo"
    return all(argument.startswith(_GPU_QUESTIONS) for argument in arguments if argument.startswith("-"))


def harmless_line(line: str) -> bool:
    """May this line really be given to a shell? Only if each command in it may run and nothing is written to a file."""
    return all(harmless(command) for command in commands(line))


def commands(line: str) -> list[list[str]]:
    """The single commands of a shell's line; one without a word stands for what is not understood."""
    if any(mark in line for mark in ("$(", "`", "<(", ">(", "\n")):
        return [[]]
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        words = list(lexer)
    except ValueError:
        return [[]]
    return _split(words)


def _split(words: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    rest = iter(words)
    for word in rest:
        if word in _JOINTS:
            found.append([])
        elif word in (">", ">>", ">&", "&>", "<"):
            target = next(rest, "")
            if word != "<" and target not in (*_NOWHERE, "1", "2"):
                return [[]]
            if found[-1] and found[-1][-1] in ("1", "2"):
                found[-1].pop()
        elif set(word) <= set("();<>|&"):
            return [[]]
        else:
            found[-1].append(word)
    return found
