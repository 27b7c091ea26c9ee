"""Processes of `multiprocessing`: one that the program starts is listed and not started, pools work right here."""

from __future__ import annotations

import concurrent.futures
import importlib
import os
import queue
import threading
import types
from collections.abc import Callable
from typing import Any

from sleuth.dry.safe.processes import pretended_number
from sleuth.frameworks.patches import Patches

Tell = Callable[[str, str], None]


def install(patches: Patches, tell: Tell, package: str = "multiprocessing") -> None:
    """For `multiprocessing`, or a package made after it."""
    process, pool, managers, util, tracker, dummy = (
        importlib.import_module(f"{package}.{name}")
        for name in ("process", "pool", "managers", "util", "resource_tracker", "dummy")
    )

    def start(self: Any) -> None:
        tell("process", f"multiprocessing.Process {_target(self)}")
        self._popen = Ended()
        self._sentinel = self._popen.sentinel

    patches.set(process.BaseProcess, "start", start)
    _work_in_threads(patches, pool, dummy.DummyProcess, tell)
    patches.set(managers, "SyncManager", type("SyncManager", (ManagerHere,), {}))
    patches.set(util, "spawnv_passfds", lambda path, args, passfds: pretended_number())
    # It would be a process too, which removes what this program leaves in shared memory.
    patches.set(tracker.ResourceTracker, "ensure_running", lambda self: None)
    patches.set(tracker.ResourceTracker, "_send", lambda self, cmd, name, rtype: None)


def _work_in_threads(patches: Patches, pool: Any, thread: Any, tell: Tell) -> None:
    """A pool of processes becomes what the same module calls a ThreadPool, of one thread: tasks stay in their order."""
    begin = pool.Pool.__init__

    def begin_here(self: Any, processes: int | None = None, *args: Any, **options: Any) -> None:
        in_threads = isinstance(self, pool.ThreadPool)
        if not in_threads:
            tell("process", f"multiprocessing.Pool of {processes or 'all cores'}, whose work is done in this one")
        begin(self, processes if in_threads else 1, *args, **options)

    class Worker(thread):  # type: ignore[misc]
        """A thread that has what is asked of a pool's process."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.pid, self.sentinel, self.authkey = pretended_number(), -1, b""

        terminate = kill = close = lambda self: None

    patches.set(pool.Pool, "__init__", begin_here)
    for name, method in vars(pool.ThreadPool).items():
        # The pool itself calls its own way of waiting, which suits both.
        if not name.startswith("__") and name != "_wait_for_updates":
            patches.set(pool.Pool, name, method)
    patches.set(pool.Pool, "Process", staticmethod(lambda ctx, *args, **options: Worker(*args, **options)))


def _target(process: Any) -> str:
    target = getattr(process, "_target", None)
    return getattr(target, "__qualname__", None) or type(process).__qualname__


def install_executor(patches: Patches) -> None:
    """Tasks of a ProcessPoolExecutor are done at once, in this process."""
    executor = importlib.import_module("concurrent.futures.process").ProcessPoolExecutor

    def begin(self: Any, *args: Any, initializer: Any = None, initargs: Any = (), **options: Any) -> None:
        if initializer is not None:
            initializer(*initargs)

    def submit(self: Any, task: Callable[..., Any], /, *args: Any, **options: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(task(*args, **options))
        except Exception as error:
            future.set_exception(error)
        return future

    patches.set(executor, "__init__", begin)
    patches.set(executor, "submit", submit)
    patches.set(executor, "shutdown", lambda self, wait=True, *, cancel_futures=False: None)


class Ended:
    """Stands for the process behind a `Process`: it has ended well."""

    returncode = 0

    def __init__(self) -> None:
        self.pid = pretended_number()
        self.sentinel, writing = os.pipe()
        os.close(writing)

    def poll(self, flag: int = 0) -> int:
        return 0

    def wait(self, timeout: float | None = None) -> int:
        return 0

    def terminate(self) -> None:
        pass

    kill = interrupt = close = terminate


class ManagerHere:
    """What a manager's process would share is simply here."""

    Queue, JoinableQueue = queue.Queue, queue.Queue
    Lock, RLock, Event = staticmethod(threading.Lock), staticmethod(threading.RLock), threading.Event
    Semaphore, BoundedSemaphore = threading.Semaphore, threading.BoundedSemaphore
    Condition, Barrier = threading.Condition, threading.Barrier
    dict, list = dict, list
    Namespace = types.SimpleNamespace
    Value = staticmethod(lambda kind, value, lock=True: types.SimpleNamespace(value=value))
    Array = staticmethod(lambda kind, values, lock=True: [*values])

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def start(self, *args: Any, **options: Any) -> None:
        pass

    def shutdown(self) -> None:
        pass

    connect = join = start

    def __enter__(self) -> ManagerHere:
        return self

    def __exit__(self, *_: object) -> None:
        pass
