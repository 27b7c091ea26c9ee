"""Whatever is fed to `sleuth check`: it ends, soon and well, and what it fixes stays a program."""

from __future__ import annotations

import ast
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import extremes
import mutations
from mutations import Program

from sleuth import editing, notebook
from sleuth.findings import Edit, Finding, Place
from sleuth.source import documents
from sleuth.source.documents import Document, Unreadable
from sleuth.source.engine import Examined, Unit, examine
from sleuth.source.mending import Mended, Mender
from sleuth.source.project import Project

VALID, BROKEN, PROJECTS = 2000, 500, 60
CHUNKS = 10
# Processor seconds. Nearly all take some milliseconds; where one takes this long, something grows without bounds.
A_FILE, AN_EXTREME = 3.0, 10.0


class TooSlow(Exception):
    pass


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Stops what takes more processor time than this, so that a hang is a failure and not the end of all tests."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"not done after {seconds} s")

    kept = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, kept)


def collected(programs: Iterator[Program], test: Callable[[Program], None]) -> list[str]:
    """What went wrong with which program."""
    problems = []
    for program in programs:
        try:
            test(program)
        except Exception as error:
            problems.append(f"{program.story}\n    {type(error).__name__}: {str(error)[:500]}")
    return problems


class Bench:
    """Examines documents as `sleuth check` does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def document(self, program: Program) -> Document:
        path = self.folder / f"program{program.suffix}"
        return documents.from_bytes(program.data, str(path), str(path))

    def examined(self, document: Document, overlay: Mapping[str, str] | None = None) -> Examined:
        project = Project(self.folder)
        project.overlay.update(overlay or {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = examine(Unit(document.path, document.text, document.shown, document.cell_ends), project)
        assert not result.broken, result.broken
        return Examined(document.placed(result.findings), result.dependencies, result.problem)

    def all_examined(self, some: Sequence[Document], overlay: Mapping[str, str]) -> dict[str, Examined]:
        return {document.path: self.examined(document, overlay) for document in some}

    def mended(self, document: Document, unsafe: bool) -> Mended:
        every = {document.path: document}
        results = self.all_examined([document], {})
        return Mender(every, results, self.all_examined, lambda findings, _: findings, unsafe).mend()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def text_at(document: Document, path: str) -> str:
    """The text that a place of the document speaks of: all of it, or a cell's."""
    shown, number = notebook.split_name(path)
    assert shown == document.shown, f"a place in {path}"
    if number is None:
        assert isinstance(document, documents.Script), f"{path} has no cell"
        return document.raw
    assert isinstance(document, documents.NotebookFile)
    cell = document.notebook.cell(number)
    assert cell is not None, f"there is no {path}"
    return cell.text


def verify_place(place: Place, document: Document) -> None:
    lines = editing.with_plain_ends(text_at(document, place.path)).split("\n")
    assert 1 <= place.line <= len(lines), f"line {place.line} of {len(lines)}"
    assert 1 <= (place.column or 1) <= len(lines[place.line - 1]) + 1, (
        f"column {place.column} of {lines[place.line - 1]!r}"
    )
    assert place.line <= (place.end_line or place.line) <= len(lines), f"end line {place.end_line}"


def verify_edits(edits: Sequence[Edit], document: Document) -> None:
    for path in {edit.path for edit in edits}:
        text = text_at(document, path)
        assert editing.apply(text, [edit for edit in edits if edit.path == path]) is not None, (
            f"edits do not fit: {edits}"
        )


def verify(finding: Finding, document: Document) -> None:
    """Everything it points at is there."""
    about = f"{finding.diagnosis} at {finding.place}: "
    try:
        assert finding.place is not None
        for place in (finding.place, *(link.place for link in finding.chain if link.place)):
            verify_place(place, document)
        for fix in finding.fixes:
            verify_edits(fix.edits, document)
    except AssertionError as error:
        raise AssertionError(about + str(error)) from None


def verify_mending(document: Document, bench: Bench, unsafe: bool) -> None:
    """What is mended is a program, can be written and read back, and needs no more mending."""
    mended = bench.mended(document, unsafe)
    (after,) = mended.documents.values()
    ast.parse(after.text)
    again = documents.from_bytes(after.data(), after.path, after.shown)
    assert again.raw == after.raw
    second = bench.mended(again, unsafe)
    assert not second.made, f"mended again: {[str(change) for change in second.made]}"
    unreadable = [why for why in mended.given_up if "cannot read" in why]
    assert not unreadable, unreadable


def verify_program(program: Program, bench: Bench) -> None:
    with within(A_FILE):
        document = bench.document(program)
        result = bench.examined(document)
        assert result.problem is None, result.problem
        assert bench.examined(document) == result, "another look finds something else"
    for finding in result.findings:
        verify(finding, document)
    fixes = [fix for finding in result.findings for fix in finding.fixes if fix.edits]
    with within(A_FILE):
        if any(fix.safe for fix in fixes):
            verify_mending(document, bench, unsafe=False)
        if fixes:
            verify_mending(document, bench, unsafe=True)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_mutated_program_is_examined_and_mended_without_harm(chunk: int, bench: Bench) -> None:
    programs = map(mutations.valid, range(chunk, VALID, CHUNKS))
    assert not (problems := collected(programs, lambda one: verify_program(one, bench))), "\n".join(problems)


@pytest.mark.parametrize("chunk", range(CHUNKS // 2))
def test_a_broken_file_gets_one_line_and_no_finding(chunk: int, bench: Bench) -> None:
    def verify_broken(program: Program) -> None:
        with within(A_FILE):
            try:
                result = bench.examined(bench.document(program))
            except Unreadable as error:
                result = Examined((), (), str(error))
        if program.suffix == ".py":
            assert result.problem is not None
            assert "\n" not in result.problem
            assert not result.findings

    programs = map(mutations.broken, range(chunk, BROKEN, CHUNKS // 2))
    assert not (problems := collected(programs, verify_broken)), "\n".join(problems)


@pytest.mark.parametrize("kind", [extremes.deep, extremes.long, extremes.circular], ids=lambda kind: kind.__name__)
def test_a_program_that_nobody_would_write_is_examined_in_time(
    kind: Callable[[], dict[str, str]], bench: Bench
) -> None:
    def verify_extreme(program: Program) -> None:
        with within(AN_EXTREME):
            document = bench.document(program)
            result = bench.examined(document)
        # Python's own parser has a limit too, which differs between its versions.
        may_be_too_deep = kind is extremes.deep and "nested too deeply" in (result.problem or "")
        assert result.problem is None or may_be_too_deep, result.problem
        for finding in result.findings:
            verify(finding, document)

    programs = (Program(name, text.encode()) for name, text in kind().items())
    assert not (problems := collected(programs, verify_extreme)), "\n".join(problems)


FILES = ["train.py", "model.py", "package/__init__.py", "package/losses.py", "package/deeper/__init__.py"]
MODULES = ["train", "model", "package", "package.losses", "package.deeper", ".", ".losses", "..", "package.nothing"]


def project_of(number: int) -> dict[str, str]:
    """Files that import each other, and perhaps themselves, all ways round."""
    rng = random.Random(f"project {number}")
    files = {}
    for name in FILES:
        while True:
            text = mutations.valid(rng.randrange(100_000)).data.decode("utf-8", "replace").replace("\r", "\n")
            imports = [
                rng.choice(["from {} import *", "from {} import x, Net, train as t", "import {}"]) for _ in range(4)
            ]
            lines = [line.format(rng.choice(MODULES)) for line in imports]
            whole = "\n".join([line for line in lines if not line.startswith("import .")] + [text.lstrip("\ufeff")])
            if is_python(whole):
                files[name] = whole
                break
    return files


def is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.parametrize("chunk", range(2))
def test_files_that_import_each_other_are_examined_whatever_they_hold(chunk: int, tmp_path: Path) -> None:
    for number in range(chunk, PROJECTS, 2):
        texts = {str(tmp_path / name): text for name, text in project_of(number).items()}
        project = Project(tmp_path)
        project.overlay.update(texts)
        for path, text in texts.items():
            with within(A_FILE):
                result = examine(Unit(path, text, path), project)
            assert not result.broken, (number, path, result.broken)
            assert result.problem is None, (number, path, result.problem)
            assert set(result.dependencies) <= set(texts), (number, path, result.dependencies)
            for finding in result.findings:
                assert finding.place is not None
                assert finding.place.path in texts, (number, path, finding.place)
