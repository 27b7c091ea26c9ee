"""A session on a Spark cluster, made so that it works at once and says in one line why where it does not."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sleuth.study.engine import NoEngine

_LOOPBACK = "127.0.0.1"
_SILENT_SECONDS = 0.2
_MASTER_ANSWERS_WITHIN_SECONDS = 5.0
_EXECUTOR_COMES_WITHIN_SECONDS = 60.0
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # As DuckDB, which gives a NULL where standard SQL stops the whole query: x / 0, or element 3 of a list of two.
    "spark.sql.ansi.enabled": "false",
}


def connect(master: str) -> Any:
    """An Ibis backend on the cluster of that master, or on `local[n]`. Raises NoEngine."""
    _check_installed()
    address = _first_address(master)
    on_loopback = address is None or _is_loopback(address[0])
    if address is not None:
        _check_answers(*address)
    session = _session(master, _environment_and_settings(on_loopback))
    if address is not None:
        _await_executor(session, master)
    import ibis

    return ibis.pyspark.connect(session)


def read(connection: Any, paths: list[str]) -> Any:
    """Parquet files as an Ibis table."""
    return _as_table(connection, connection._session.read.parquet(*(_literally(path) for path in paths)))


def small_table(connection: Any, rows: Any) -> Any:
    """A pyarrow table as an Ibis table, integers and lists as they are."""
    return _as_table(connection, connection._session.createDataFrame(rows))


def write(connection: Any, expression: Any, folder: Path) -> None:
    """The rows of an expression as Parquet files `part-….parquet` in a folder that is made for them."""
    query = connection._session.sql(connection.compile(expression))
    query.write.parquet(f"file://{folder.absolute()}")
    written = sorted(folder.glob("part-*.parquet"))
    for number, path in enumerate(written):
        path.rename(folder / f"part-{number:05}.parquet")
    # Checksums and the mark of success are files of Spark's own.
    for path in folder.iterdir():
        if not path.name.startswith("part-"):
            path.unlink()


def progress(connection: Any) -> tuple[int, int] | None:
    """Tasks that are done, and all that are known of, in the stages that run now."""
    tracker = connection._session.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    known = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage is not None]
    return (sum(done for done, _ in known), sum(total for _, total in known)) if known else None


def _as_table(connection: Any, frame: Any) -> Any:
    import ibis

    name = ibis.util.gen_name("frame")
    frame.createOrReplaceTempView(name)
    return connection.table(name)


def _literally(path: str) -> str:
    """Hadoop takes a path for a pattern; a folder may be called `posts [2024]`."""
    return "file://" + "".join(f"\\{letter}" if letter in "*?[]{}\\^" else letter for letter in path)


def _check_installed() -> None:
    if find_spec("pyspark") is None:
        raise NoEngine("Spark needs pip install 'sleuth-ml[spark]'")
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin")) if home else shutil.which("java")
    if java is None:
        where = f"there is none in JAVA_HOME, {home}" if home else "there is no `java` on the PATH"
        raise NoEngine(f"Spark needs Java 17 or newer, and {where}")


def _first_address(master: str) -> tuple[str, int] | None:
    """Host and port of the (first) master; None for Spark in this process."""
    if not master.startswith("spark://"):
        return None
    host, _, port = master.removeprefix("spark://").split(",")[0].rpartition(":")
    if not host or not port.isdigit():
        raise NoEngine(f"{master} is no address of a Spark master; it looks like spark://host:7077")
    return host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _check_answers(host: str, port: int) -> None:
    """Spark itself would try for minutes."""
    try:
        with socket.create_connection((host, port), timeout=_MASTER_ANSWERS_WITHIN_SECONDS) as master:
            _check_stays(master)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NoEngine(f"no Spark master answers at {host}:{port}: {reason}") from None


def _check_stays(master: socket.socket) -> None:
    """A master waits for the first word; what ends the connection by itself is none, or nobody listens at that port."""
    master.settimeout(_SILENT_SECONDS)
    try:
        if not master.recv(1):
            raise ConnectionError("the connection was closed at once")
    except TimeoutError:
        return


def _environment_and_settings(on_loopback: bool) -> dict[str, str]:
    # The workers' default, `python3` on their PATH, may be another version than this one.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if not on_loopback:
        return dict(_SETTINGS)
    # Else the driver tells the workers to call back at this machine's outward address, which may not reach it.
    os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    return {**_SETTINGS, "spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}


def _session(master: str, settings: dict[str, str]) -> Any:
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None and running.sparkContext.master != master:
        # A process can have one; `getOrCreate` would silently give the old one.
        running.stop()
    builder = SparkSession.builder.master(master).appName("sleuth study")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _quiet() as said:
        try:
            return builder.getOrCreate()
        except Exception as error:
            raise NoEngine(f"Spark does not start at {master}: {_reason(error, said)}") from None


@contextmanager
def _quiet() -> Iterator[Path]:
    """Java writes to the standard error it was born with: let that be a file, here and for all its life."""
    handle, name = tempfile.mkstemp(prefix="sleuth-spark-", suffix=".log")
    if sys.stderr is not None:
        sys.stderr.flush()
    ours = os.dup(2)
    os.dup2(handle, 2)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        os.dup2(ours, 2)
        os.close(ours)
        os.unlink(name)


def _reason(error: Exception, said: Path) -> str:
    """The last thing that reads like a reason: Java's own line if it died early, else the exception's."""
    lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
    causes = [line.strip() for line in lines if "Exception:" in line or "Error:" in line or "error:" in line]
    if causes:
        return causes[-1].removeprefix("Caused by: ")
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _await_executor(session: Any, master: str) -> None:
    """A master without a free worker accepts every query, and answers none."""
    status = session.sparkContext._jsc.sc()
    deadline = time.monotonic() + _EXECUTOR_COMES_WITHIN_SECONDS
    # The driver itself counts as one.
    while status.getExecutorMemoryStatus().size() < 2:
        if time.monotonic() > deadline:
            session.stop()
            raise NoEngine(f"the Spark master at {master} has no worker with a free core and memory to spare")
        time.sleep(0.1)
