"""The user's program: finding it, running it as Python itself would, and pointing into its source."""

from __future__ import annotations

import importlib.util
import io
import linecache
import os
import re
import shutil
import sys
import sysconfig
import tokenize
import types
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, TracebackType

from sleuth import kernel
from sleuth.findings import Finding, Place
from sleuth.positions import span_of

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
# Python gives a whole `for` statement as the position of its next(); a person means its first line.
_LONG_EXPRESSION = 12
# A command is Python's where its first line says so.
_FIRST_LINE = 512
_COMPOUND = ("for ", "while ", "with ", "async ", "if ")
_IGNORE = re.compile(r"#\s*sleuth:\s*ignore(?:\[([^\]]*)\])?")


class CannotRun(Exception):
    """The program cannot be started; `str()` of it is the one line to show."""


@dataclass(frozen=True, slots=True)
class Program:
    """A script or module with its arguments, compiled and ready to run."""

    name: str
    arguments: tuple[str, ...]
    code: CodeType
    module: str | None = None

    @property
    def path(self) -> str:
        return self.code.co_filename


@dataclass(frozen=True, slots=True)
class Ending:
    """How the program ended: its exit status, and the exception that ended it where there was one."""

    status: int
    error: BaseException | None = None


def find(target: str, arguments: Collection[str] = (), module: bool = False) -> Program:
    """The program called `target`: a script's path, or a module's name. Raises CannotRun."""
    return _find_module(target, arguments) if module else _find_script(target, arguments)


def _find_script(target: str, arguments: Collection[str]) -> Program:
    path = _installed(target) or Path(target)
    if path.is_dir():
        raise CannotRun(f"{target} is a directory; name the script in it, or run a package with -m")
    try:
        with tokenize.open(path) as file:
            source = file.read()
    except FileNotFoundError:
        raise CannotRun(f"{target}: no such file") from None
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CannotRun(f"{target} cannot be read as Python: {reason}") from None
    return Program(target, tuple(arguments), _compiled(source, str(path.absolute()), target))


def _installed(target: str) -> Path | None:
    """A command such as `torchrun`, where no script of that name lies here."""
    if os.path.exists(target) or os.path.basename(target) != target:
        return None
    found = shutil.which(target)
    if found is None:
        return None
    with open(found, "rb") as file:
        return Path(found) if b"python" in file.readline(_FIRST_LINE) else None


def _compiled(source: str, filename: str, shown: str) -> CodeType:
    try:
        return compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise CannotRun(f"{shown}:{error.lineno}:{error.offset}: syntax error: {error.msg}") from None
    except ValueError as error:
        raise CannotRun(f"{shown} cannot be read as Python: {error}") from None


def _find_module(name: str, arguments: Collection[str]) -> Program:
    sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise CannotRun(f"no module named {name}: {error}") from None
    except SyntaxError as error:
        raise CannotRun(f"{error.filename}:{error.lineno}: syntax error: {error.msg}") from None
    finally:
        sys.path.pop(0)
    if spec is None or spec.origin is None or spec.loader is None:
        raise CannotRun(f"no module named {name}")
    source = importlib.util.decode_source(Path(spec.origin).read_bytes())
    return Program(f"-m {name}", tuple(arguments), _compiled(source, spec.origin, name), module=name)


def run(program: Program) -> Ending:
    """Run the program in this process as `python program` would, and say how it ended. Nothing it raises gets out."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=program.path, __builtins__=__builtins__)
    if program.module is None:
        sys.path.insert(0, str(Path(program.path).parent))
    else:
        sys.path.insert(0, os.getcwd())
        main.__spec__ = importlib.util.find_spec(program.module)
        main.__package__ = program.module.rpartition(".")[0]
        main.__loader__ = main.__spec__.loader if main.__spec__ else None
    sys.argv = [program.path if program.module else program.name, *program.arguments]
    sys.modules["__main__"] = main
    try:
        exec(program.code, main.__dict__)
    except SystemExit as error:
        return Ending(_exit_code(error), error)
    except KeyboardInterrupt as error:
        return Ending(130, error)
    except BaseException as error:
        return Ending(1, error)
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    return Ending(0)


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def without_our_frames(error: BaseException) -> BaseException:
    """The same exception, its traceback and those of its causes as they would be without Sleuth in between."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _pruned(one.__traceback__)
        todo += [one.__cause__, one.__context__]
    return error


def _pruned(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        if not is_ours(traceback.tb_frame.f_code.co_filename):
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for one in reversed(kept):
        result = TracebackType(result, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return result


@cache
def _library_folders() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {sysconfig.get_paths()[name] for name in names}
    folders |= {os.path.realpath(folder) for folder in folders}
    return (*(os.path.join(folder, "") for folder in folders), "<frozen ", _OURS)


def is_installed(filename: str) -> bool:
    """Is this file in a folder for libraries, of this Python or another, or of a distribution's?"""
    return any(folder in filename for folder in _INSTALLED)


@cache
def is_users(filename: str) -> bool:
    """Does this file belong to the user, rather than to Python, an installed library or Sleuth?"""
    if filename.startswith(_library_folders()) or is_installed(filename):
        return False
    return os.path.isabs(filename) or filename.startswith("<") or os.path.exists(filename)


def is_ours(filename: str) -> bool:
    """Does this file belong to Sleuth?"""
    return filename.startswith(_OURS)


def users_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame at or above this one that runs the user's own code."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def users_place(frame: FrameType | None) -> Place | None:
    """Where that frame stands in the source."""
    users = users_frame(frame)
    return None if users is None else place_of(users.f_code, users.f_lasti)


def line_of(code: CodeType, instruction: int) -> int:
    """The line an instruction of a code object stands on."""
    line = code.co_firstlineno
    for start, _, number in code.co_lines():
        if start > instruction:
            break
        line = number or line
    return line


def place_of(code: CodeType, instruction: int) -> Place:
    """Where an instruction of a code object stands in the source, as exactly as can be known."""
    span = span_of(code, instruction)
    if span is None or span.end_line - span.line >= _LONG_EXPRESSION:
        return place_at(code.co_filename, line_of(code, instruction))
    start, end, column, end_column = span
    lines = [linecache.getline(code.co_filename, number).rstrip("\n") for number in range(start, end + 1)]
    if start != end and lines[0][column:].startswith(_COMPOUND):
        return place_at(code.co_filename, start)
    lines[-1] = _bytes_cut(lines[-1], None, end_column)
    column_in_text = len(_bytes_cut(lines[0], None, column))
    lines[0] = lines[0][column_in_text:]
    code_text = " ".join(line.strip() for line in lines)
    return Place(shown_path(code.co_filename), start, column_in_text + 1, end, code_text or None)


def _bytes_cut(text: str, start: int | None, end: int | None) -> str:
    return text.encode()[start:end].decode(errors="replace")


def place_at(filename: str, line: int) -> Place:
    """A whole line of a file."""
    text = linecache.getline(filename, line).rstrip()
    column = len(text) - len(text.lstrip()) + 1
    return Place(shown_path(filename), line, column if text else None, line, text.strip() or None)


def place_of_error(error: BaseException) -> Place | None:
    """The user's innermost line in a traceback."""
    innermost: tuple[str, int] | None = None
    trace = error.__traceback__
    while trace is not None:
        filename, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if is_users(filename) and line is not None:
            innermost = filename, line
        trace = trace.tb_next
    return place_at(*innermost) if innermost is not None else None


@cache
def _started_in() -> str:
    return os.getcwd()


def shown_path(filename: str) -> str:
    """The path as a person in the folder where the command was run would write it, or a notebook's `cell 3`."""
    cell = kernel.cell_of(filename)
    if cell is not None:
        return cell
    if filename.startswith("<"):
        return filename
    relative = os.path.relpath(filename, _started_in())
    return relative if not relative.startswith(os.pardir + os.sep + os.pardir) else filename


def silenced(finding: Finding, ignored: Collection[str] = ()) -> bool:
    """Has the user switched this finding off, by its name or by a `# sleuth: ignore[name]` on its line?"""
    if finding.diagnosis in ignored:
        return True
    if finding.place is None:
        return False
    path = kernel.file_of(finding.place.path) or os.path.join(_started_in(), finding.place.path)
    last = finding.place.end_line or finding.place.line
    lines = (linecache.getline(path, number) for number in range(finding.place.line, last + 1))
    return any(silences(line, finding.diagnosis) for line in lines)


def silences(line: str, diagnosis: str) -> bool:
    comments = _IGNORE.search(line)
    if comments is None or not _really_a_comment(line):
        return False
    names = comments.group(1)
    return names is None or diagnosis in {name.strip() for name in names.split(",")}


def _really_a_comment(line: str) -> bool:
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip() + "\n").readline):
            if token.type == tokenize.COMMENT and _IGNORE.search(token.string):
                return True
    except (tokenize.TokenError, SyntaxError):
        # A line that is a part of a longer statement does not tokenise by itself; its tail still may be a comment.
        return True
    return False
