"""Examines many files: what is known from the cache, the rest on all cores, the findings merged."""

from __future__ import annotations

import gc
import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sleuth import program
from sleuth.findings import Finding, Place
from sleuth.notebook import split_name
from sleuth.source import abroad, documents, engine
from sleuth.source.cache import Cache
from sleuth.source.documents import Document, Lines, Script, Unreadable
from sleuth.source.engine import Examined, Unit
from sleuth.source.files import root_of
from sleuth.source.project import Project

# Below this much text the other processes would only just have started when all is done.
_WORTH_PROCESSES = 400_000
_A_TASK = 100_000
# A process forgets what it has parsed after so much text: the trees take two hundred times as much memory.
_KEPT_PARSED = 4_000_000

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Request:
    """How to examine. `overlay` holds texts that are not, or not yet, in their files."""

    select: frozenset[str] | None = None
    targets: Mapping[str, str] = field(default_factory=dict)
    jobs: int = 1
    cache: str | None = None
    overlay: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in each file, and which could not be read."""

    results: Mapping[str, Examined]

    @property
    def findings(self) -> tuple[Finding, ...]:
        return merged(self.results.values())

    @property
    def problems(self) -> tuple[str, ...]:
        """One line for each file that could not be read, and one for each check that failed."""
        unread = [result.problem for result in self.results.values() if result.problem is not None]
        broken = {said for result in self.results.values() if result.problem is None for said in result.broken}
        return (*unread, *(f"a check failed and was left out where it did: {said}" for said in sorted(broken)))

    @property
    def failed(self) -> bool:
        """Was there a file that Sleuth, rather than the file, was to blame for?"""
        return any(result.problem is not None and result.broken for result in self.results.values())


def check(files: Sequence[str], request: Request, progress: Progress = lambda done, total: None) -> Checked:
    """Examine these files, given by absolute path."""
    settings = (repr(None if request.select is None else sorted(request.select)), repr(sorted(request.targets.items())))
    cache = Cache(request.cache, settings)
    results: dict[str, Examined] = dict.fromkeys(files, Examined((), ()))
    unknown: list[Document] = []
    for path in files:
        known = _known(path, cache)
        if isinstance(known, Examined):
            results[path] = known
        else:
            unknown.append(known)
    done = len(files) - len(unknown)
    progress(done, len(files))
    for document, examined in examine(unknown, request):
        results[document.path] = examined
        cache.keep(document.path, document.shown, examined)
        done += 1
        progress(done, len(files))
    cache.close()
    return Checked(results)


def _known(path: str, cache: Cache) -> Examined | Document:
    """The result for a file, or the file itself where it has to be examined."""
    shown = program.shown_path(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
        cache.note(path, data)
        return cache.find(path, shown) or documents.from_bytes(data, path, shown)
    except OSError as error:
        return Examined((), (), f"{shown}: {error.strerror}")
    except Unreadable as unreadable:
        return Examined((), (), str(unreadable))


def examine(unknown: Sequence[Document], request: Request) -> Iterator[tuple[Document, Examined]]:
    """Each document with what was found in it, told as its reader sees it; in any order."""
    of_path = {document.path: document for document in unknown}
    lines = Lines({path: Script(path, path, text, "utf-8") for path, text in request.overlay.items()})
    units = [Unit(one.path, one.text, one.shown, one.cell_ends) for one in unknown]
    alone = request.jobs <= 1 or sum(len(unit.text) for unit in units) < _WORTH_PROCESSES
    for path, found in _here(units, request) if alone else _on_all_cores(units, request):
        document = of_path[path]
        problem = None if found.problem is None else document.placed_problem(found.problem)
        findings = abroad.settled(document.placed(found.findings), document.shown, lines)
        yield document, Examined(findings, found.dependencies, problem, found.broken)


def _here(units: Iterable[Unit], request: Request) -> Iterator[tuple[str, Examined]]:
    desk = _Desk(request)
    for unit in units:
        with _without_collecting():
            examined = desk.examined(unit)
        yield unit.path, examined


def _on_all_cores(units: Sequence[Unit], request: Request) -> Iterator[tuple[str, Examined]]:
    # A small check, as an editor or a hook asks for, need not wait for this import.
    from concurrent.futures.process import BrokenProcessPool

    waiting = {unit.path: unit for unit in units}
    try:
        for path, found in _in_processes(list(_tasks(units)), request, request.jobs):
            del waiting[path]
            yield path, found
    except BrokenProcessPool:
        # A file that takes its process down, for want of memory say, must not take the others with it.
        for unit in list(waiting.values()):
            yield unit.path, _in_a_process_of_its_own(unit, request)


def _in_a_process_of_its_own(unit: Unit, request: Request) -> Examined:
    from concurrent.futures.process import BrokenProcessPool

    try:
        return next(_in_processes([[unit]], request, 1))[1]
    except BrokenProcessPool:
        return _failed(unit, "the process that tried died")


def _in_processes(tasks: list[list[Unit]], request: Request, jobs: int) -> Iterator[tuple[str, Examined]]:
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
    from multiprocessing import active_children

    others = set(active_children())
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), initializer=_take_a_desk, initargs=(request,))
    try:
        for finished in as_completed([pool.submit(_at_the_desk, task) for task in tasks]):
            yield from finished.result()
    except BaseException as error:
        # An interrupt must not wait for what is under way; new processes must not start while threads of these run.
        pool.shutdown(wait=isinstance(error, BrokenExecutor), cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()
        raise
    pool.shutdown()


def _tasks(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Neighbours together, since they import each other, in portions that keep every core busy to the end."""
    task: list[Unit] = []
    size = 0
    for unit in units:
        task.append(unit)
        size += len(unit.text)
        if size >= _A_TASK:
            yield task
            task, size = [], 0
    if task:
        yield task


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Nearly all that is made while a file is read stays to the end: looking for garbage takes a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Desk:
    """Where one process examines files: it keeps what it has parsed of each project."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._projects: dict[str, Project] = {}
        self._parsed = 0

    def examined(self, unit: Unit) -> Examined:
        if self._parsed > _KEPT_PARSED:
            self._projects.clear()
            gc.collect()
            self._parsed = 0
        self._parsed += len(unit.text)
        try:
            with warnings.catch_warnings():
                # Python warns of odd escapes in the user's strings; that is not our business.
                warnings.simplefilter("ignore")
                return engine.examine(unit, self._project(unit.path), select=self._request.select)
        except Exception as error:
            if os.environ.get("SLEUTH_DEBUG", "0") not in ("", "0"):
                raise
            return _failed(unit, " ".join(f"{type(error).__name__} inside Sleuth: {error}".split()))

    def _project(self, path: str) -> Project:
        root = root_of(path)
        if root not in self._projects:
            project = Project(Path(root))
            project.targets = dict(self._request.targets)
            project.overlay.update(self._request.overlay)
            self._projects[root] = project
        return self._projects[root]


_desk: _Desk | None = None


def _take_a_desk(request: Request) -> None:
    global _desk
    _desk = _Desk(request)
    # Ctrl-C reaches every process of the terminal; only the first one answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()


def _at_the_desk(task: list[Unit]) -> list[tuple[str, Examined]]:
    assert _desk is not None
    return [(unit.path, _desk.examined(unit)) for unit in task]


def _failed(unit: Unit, why: str) -> Examined:
    """Not the file's fault: such a result is never kept."""
    return Examined((), (), f"{unit.shown} could not be examined: {why}", (why,))


def merged(results: Iterable[Examined]) -> tuple[Finding, ...]:
    """All findings in the order of their places, those that two files led to only once."""
    kept: dict[object, Finding] = {}
    for result in results:
        for finding in result.findings:
            same = (finding.diagnosis, _spot(finding.place))
            kept[same] = min(kept.get(same, finding), finding, key=_telling)
    return tuple(sorted(kept.values(), key=_order))


def _spot(place: Place | None) -> tuple[str, int, int]:
    return ("", 0, 0) if place is None else (place.path, place.line, place.column or 0)


def _telling(finding: Finding) -> tuple[int, str]:
    """The longer story first; between equals any order will do that is always the same."""
    return -len(finding.chain), repr(finding)


def _order(finding: Finding) -> tuple[list[str], int, int, int, str]:
    path, line, column = _spot(finding.place)
    file, cell = split_name(path)
    return file.replace(os.sep, "/").split("/"), cell or 0, line, column, finding.diagnosis
