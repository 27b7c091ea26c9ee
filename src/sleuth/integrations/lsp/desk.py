"""Keeps what is known about every open file up to date, examining one at a time beside the conversation."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from collections.abc import Iterable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from sleuth.findings import Finding
from sleuth.integrations.lsp.folders import Folder
from sleuth.integrations.lsp.subjects import Subject
from sleuth.source.engine import Examined, Unit
from sleuth.source.runner import merged

_STACK = 64 << 20


class Client(Protocol):
    """What the desk asks of the other side."""

    def subjects(self) -> Mapping[str, Subject]: ...

    def folder_of(self, path: str) -> Folder: ...

    def publish(self, path: str, findings: Iterable[Finding], problem: str | None) -> None: ...

    def log(self, message: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Now:
    """What the editor holds at one moment. The round changes whenever something on disk may have."""

    subjects: Mapping[str, Subject]
    texts: Mapping[str, str]
    round: int


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found when a subject was examined, and when that was."""

    path: str
    examined: Examined
    then: Now

    @property
    def files(self) -> frozenset[str]:
        """The file itself and the others in which something was found."""
        return frozenset((self.path, *(file_of(finding) or self.path for finding in self.examined.findings)))

    def holds(self, now: Now) -> bool:
        """Would it come out the same now?"""
        before, after = self.then.subjects.get(self.path), now.subjects.get(self.path)
        if before is None or after is None or self.then.round != now.round or not before.same_as(after):
            return False
        return all(self.then.texts.get(path) == now.texts.get(path) for path in self.examined.dependencies)


def file_of(finding: Finding) -> str | None:
    return None if finding.place is None else os.path.abspath(finding.place.path)


class Desk:
    """One examination at a time: the engine's project is not made for two threads."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._thread = _thread()
        self._turn = asyncio.Lock()
        self._known: dict[str, Examination] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._at_work: set[asyncio.Task[None]] = set()
        self._told: set[str] = set()
        self._round = 0

    def look_again(self) -> None:
        """Something on disk may have changed: nothing that is known holds any longer."""
        self._round += 1

    def refresh(self, first: str | None = None, delay: float = 0.0) -> None:
        """Examine whatever is open and not known as it is now, this path first; forget what was closed."""
        now = self._now()
        for path in self._waiting.keys() - now.subjects.keys():
            self._waiting.pop(path).cancel()
        self._forget(self._known.keys() - now.subjects.keys())
        for path in sorted(now.subjects, key=lambda path: path != first):
            if not self._is_known(path, now):
                self._schedule(path, delay)

    async def current(self, path: str) -> tuple[Finding, ...]:
        """What is found in an open file as it is at this moment."""
        while path in (now := self._now()).subjects:
            speaking = [path, *(one.path for one in self._known.values() if path in one.files)]
            outdated = [one for one in speaking if one in now.subjects and not self._is_known(one, now)]
            if not outdated:
                return self._findings_in(path)
            await self._examine(outdated[0])
        return ()

    def close(self) -> None:
        for task in (*self._waiting.values(), *self._at_work):
            task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _now(self) -> Now:
        subjects = self._client.subjects()
        return Now(subjects, {path: subject.text for path, subject in subjects.items()}, self._round)

    def _is_known(self, path: str, now: Now) -> bool:
        return path in self._known and self._known[path].holds(now)

    def _findings_in(self, path: str) -> tuple[Finding, ...]:
        """Also what examining another file has led to."""
        speaking = (one.examined for one in self._known.values() if path in one.files)
        return tuple(finding for finding in merged(speaking) if file_of(finding) == path)

    def _forget(self, paths: Iterable[str]) -> None:
        files = {file for path in list(paths) for file in self._known.pop(path).files}
        self._publish(files)

    def _publish(self, files: Set[str]) -> None:
        """Tell what is found in these files, except where an outdated examination has a say: it will be renewed."""
        now = self._now()
        for path in sorted(files):
            if all(one.holds(now) for one in self._known.values() if path in one.files):
                own = self._known.get(path)
                self._client.publish(path, self._findings_in(path), own.examined.problem if own else None)

    def _schedule(self, path: str, delay: float) -> None:
        earlier = self._waiting.pop(path, None)
        if earlier is not None:
            earlier.cancel()
        self._waiting[path] = asyncio.get_running_loop().create_task(self._later(path, delay))

    async def _later(self, path: str, delay: float) -> None:
        await asyncio.sleep(delay)
        task = self._waiting.pop(path)
        # From here on a newer change waits for its own turn, and does not cancel this one.
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)
        try:
            await self._examine(path)
        except Exception as error:
            self._log_once(f"{path} could not be shown: {type(error).__name__}: {error}", _story(error))

    async def _examine(self, path: str) -> None:
        async with self._turn:
            now = self._now()
            if path not in now.subjects or self._is_known(path, now):
                return
            before = self._known.get(path)
            examination = Examination(path, await self._examined(now.subjects[path], now.texts), now)
            if path in self._client.subjects():
                self._known[path] = examination
                self._publish(examination.files | (before.files if before else frozenset()))

    async def _examined(self, subject: Subject, texts: Mapping[str, str]) -> Examined:
        unit = Unit(path=subject.path, text=subject.text, shown=subject.path, cell_ends=subject.cell_ends)
        try:
            folder = self._client.folder_of(subject.path)
            examined = await asyncio.get_running_loop().run_in_executor(self._thread, folder.examine, unit, texts)
        except Exception as error:
            self._log_once(f"{subject.path} could not be examined: {type(error).__name__}: {error}", _story(error))
            # Whatever is edited next may be what it stumbled over.
            return Examined((), tuple(texts))
        for broken in examined.broken:
            self._log_once(f"a check was switched off in {subject.path}: {broken}")
        return examined

    def _log_once(self, said: str, story: str = "") -> None:
        """While one types, the same error would come again with every letter."""
        if said not in self._told:
            self._told.add(said)
            self._client.log("\n".join(filter(None, (said, story))))


def _thread() -> ThreadPoolExecutor:
    """A thread in which deeply nested source can be read: some systems give the others half a megabyte."""
    usual = threading.stack_size(_STACK)
    try:
        thread = ThreadPoolExecutor(1, thread_name_prefix="examine")
        thread.submit(int).result()
        return thread
    finally:
        threading.stack_size(usual)


def _story(error: Exception) -> str:
    return "".join(traceback.format_exception(error))
