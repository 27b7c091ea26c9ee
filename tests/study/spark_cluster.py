"""A true Spark cluster on this machine: one master and one worker, processes of their own, gone at the end."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STARTS_WITHIN_SECONDS = 90
_ON_LOOPBACK = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]


# What starts small is done soon: no second compiler, no 200 partitions for a few thousand rows.
_DEFAULTS = """\
spark.sql.shuffle.partitions 2
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
"""


def small_defaults(folder: Path) -> str:
    """A folder for SPARK_CONF_DIR that makes Spark light, as a user's own settings would."""
    (folder / "conf").mkdir()
    (folder / "conf" / "spark-defaults.conf").write_text(_DEFAULTS, encoding="utf-8")
    return str(folder / "conf")


@contextmanager
def master_and_worker(folder: Path, memory: str = "1g") -> Iterator[str]:
    """The address of the master, `spark://127.0.0.1:port`. Its worker has one core."""
    with _daemon("master.Master", _ON_LOOPBACK, folder) as log:
        master = _wait_for(r"Starting Spark master at (spark://\S+)", log)
        worker = [*_ON_LOOPBACK, "--cores", "1", "--memory", memory, "--work-dir", str(folder / "work"), master]
        with _daemon("worker.Worker", worker, folder) as log:
            _wait_for(r"Successfully registered with master (\S+)", log)
            yield master


@contextmanager
def master_alone(folder: Path) -> Iterator[str]:
    """A master that has nobody to work for it."""
    with _daemon("master.Master", _ON_LOOPBACK, folder) as log:
        yield _wait_for(r"Starting Spark master at (spark://\S+)", log)


@contextmanager
def _daemon(name: str, arguments: list[str], folder: Path) -> Iterator[Path]:
    import pyspark

    home = Path(pyspark.__file__).parent
    log = folder / f"{name}.log"
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
    try:
        yield log
    finally:
        _end(process)


def _die_with_parent() -> None:
    """A test run that is itself killed leaves no cluster behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_for(pattern: str, log: Path) -> str:
    deadline = time.monotonic() + _STARTS_WITHIN_SECONDS
    while time.monotonic() < deadline:
        found = re.search(pattern, log.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise TimeoutError(f"Spark did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
