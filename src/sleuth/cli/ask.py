"""`sleuth ask`: which known problem a text describes, and what to run next."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

SUMMARY = "which known problem an error, a log or a question describes, and what to run next"
EXAMPLE = "sleuth ask error.log"

_EXAMPLES = """\
examples:
  sleuth ask "my loss is nan after 100 steps"
  sleuth ask error.log                      the text is in a file
  python train.py 2>&1 | sleuth ask         or comes from another program
  sleuth ask --format json error.log        for another program to read
  sleuth ask --lines questions.txt          a text a line, an answer a line (\\n in a line stands for a new line)

It says which kind of problem it is and how likely, which diagnoses of the handbook fit and why, and what to run
next. Known error messages come first, then the words. It needs no network and no framework.

exit status: 0 answered, 2 there is no text to read
"""
# What looks like one is taken for a path, and must then be there.
_ENDINGS = (".log", ".txt", ".md", ".out", ".err", ".json", ".jsonl", ".csv")
_PROGRAMS = (".py", ".ipynb")
_LONGEST_PATH = 255
_MOST_BYTES = 64_000_000


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "text", nargs="*", metavar="TEXT", help="a question, an error, a log; or a file with it; - is standard input"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to write the answer (default: text)"
    )
    parser.add_argument("--lines", metavar="FILE", help="a text a line; writes an answer a line, as JSON")


def execute(args: Namespace) -> int:
    if args.lines is not None:
        if args.text:
            raise Refusal("--lines takes the texts from its file; leave the other text out")
        return _answer_lines(args.lines)
    text = _text(args.text)
    if not text.strip():
        raise Refusal("there is no text to read; give a question, an error message or a file")
    from sleuth.cli import streams
    from sleuth.triage import ask

    answer = ask(text)
    if args.format == "json":
        from sleuth.cli.ask_told import as_json

        streams.show(as_json(answer, indent=2) + "\n")
    else:
        from sleuth.cli.ask_told import as_text

        streams.show(as_text(answer, colour=streams.wants_colour(), width=streams.width()) + "\n")
    return 0


def _answer_lines(path: str) -> int:
    from sleuth.cli import streams
    from sleuth.cli.ask_told import as_json
    from sleuth.triage import ask

    for line in _lines(path):
        streams.show(as_json(ask(_unfolded(line))) + "\n")
    return 0


def _unfolded(line: str) -> str:
    """With its new lines; but the `\\nn` of a path of Windows, as tracebacks quote it, stands for itself."""
    import re

    return re.sub(r'(File "(?:[A-Za-z]:)?\\[^"]*")|\\n', lambda found: found[1] or "\n", line)


def _lines(path: str) -> Iterator[str]:
    import sys

    if path == "-":
        for line in sys.stdin.buffer:
            yield _decoded(line, "standard input").rstrip("\r\n")
        return
    with open(path, "rb") as file:
        for line in file:
            yield _decoded(line, path).rstrip("\r\n")


def _text(words: list[str]) -> str:
    import os
    import sys

    if not words:
        if sys.stdin is None or sys.stdin.isatty():
            raise Refusal("what about? give a question, an error message or a file; see `sleuth ask --help`")
        words = ["-"]
    if words == ["-"]:
        if sys.stdin is None:
            raise Refusal("there is no standard input")
        return _decoded(sys.stdin.buffer.read(_MOST_BYTES), "standard input")
    if len(words) == 1 and _may_be_a_path(words[0]):
        if os.path.isdir(words[0]):
            raise Refusal(f"{words[0]} is a folder; name a file in it")
        if words[0].endswith(_PROGRAMS) and os.path.exists(words[0]):
            raise Refusal(f"{words[0]} is a program, which `sleuth check {words[0]}` reads; ask takes what it says")
        return _from_file(words[0])
    return " ".join(words)


def _may_be_a_path(word: str) -> bool:
    """A file that is there, or a word that can be nothing but the name of one."""
    import os

    if len(word) > _LONGEST_PATH or "\n" in word or "\0" in word:
        return False
    looks_like_one = word.endswith(_ENDINGS) or word.startswith(("/", "./", "../"))
    return os.path.exists(word) or (looks_like_one and " " not in word)


def _from_file(path: str) -> str:
    """The end of a very long log is what matters."""
    import os

    with open(path, "rb") as file:
        if os.path.isfile(path) and os.path.getsize(path) > _MOST_BYTES:
            file.seek(-_MOST_BYTES, os.SEEK_END)
        return _decoded(file.read(_MOST_BYTES), path)


def _decoded(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        raise Refusal(f"{name} is not text")
    return data.decode("utf-8-sig", "replace")
