"""A side in a child process, with a stand-in for the framework: its answers, its errors, and how it ends."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth.compare.side import CannotCompare
from sleuth.compare.sides import remote_messages as messages
from sleuth.compare.sides.remote import RemoteSide
from sleuth.compare.values import Value
from sleuth.findings import Place

SOURCE = Path(__file__).parents[2] / "src"
DOUBLER = r"""
import os, sys
import numpy as np
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides import worker
from sleuth.compare.values import Captured, Input, Value

class Doubler(Side):
    runtime = "stand-in"
    inputs = (Input("x", (None, 2), "float32"),)
    def run(self, batch):
        print("chatter")
        if batch[0].shape[1] != 2:
            raise CannotCompare("two columns, please")
        if not batch[0].any():
            raise ValueError("\x1b[1mall zeros\x1b[0m\nand more")
        if batch[0][0, 0] == 9:
            os.write(2, b"a last word\n")
            os._exit(3)
        return [batch[0] * 2]
    def capture(self, batch, wanted=None):
        return Captured(self.run(batch), [Value("half", "mul", "a.b")], {"half": batch[0] / 2})
    def weights(self):
        return {"w": np.arange(3), "KERAS_BACKEND=" + os.environ.get("KERAS_BACKEND", ""): np.zeros(0)}

worker.opened = lambda kind, asked: Doubler()
worker.main()
"""


class Remote(RemoteSide):
    _command = (sys.executable, "-c", DOUBLER)


@pytest.fixture
def side(tmp_path: Path) -> Any:
    path = tmp_path / "model"
    path.write_bytes(b"12345")
    opened = Remote("stand-in", path, title="the model", backend="jax")
    yield opened
    opened.close()


X = np.array([[1, 2], [3, 4]], "float32")


def test_answers_values_weights_and_size_come_across(side: Remote) -> None:
    assert (side.runtime, side.inputs[0].shape, side.size) == ("stand-in", (None, 2), 5)
    np.testing.assert_array_equal(side.run((X,))[0], X * 2)
    captured = side.capture((X,))
    assert captured.values == [Value("half", "mul", "a.b")]
    np.testing.assert_array_equal(captured.arrays["half"], X / 2)
    assert list(side.weights()) == ["w", "KERAS_BACKEND=jax"]


@pytest.mark.parametrize(
    ("batch", "line"), [(X[:, :1], "two columns, please"), (X * 0, "ValueError: all zeros")], ids=["told", "raised"]
)
def test_an_error_is_one_line_and_the_process_goes_on(side: Remote, batch: Any, line: str) -> None:
    with pytest.raises(CannotCompare) as raised:
        side.run((batch,))
    assert str(raised.value) == line
    np.testing.assert_array_equal(side.run((X,))[0], X * 2)


def test_a_process_that_ends_by_itself_is_told_with_its_last_line(side: Remote) -> None:
    with pytest.raises(CannotCompare, match=r"^the model: the process that ran it ended with status 3: a last word$"):
        side.run((X * 9,))
    with pytest.raises(CannotCompare, match="ended with status 3"):
        side.run((X,))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_process_that_is_killed_is_told_in_one_line(side: Remote) -> None:
    os.kill(side._process.pid, signal.SIGKILL)
    with pytest.raises(CannotCompare, match=r"^the model: the process that ran it was killed by signal 9$"):
        side.run((X,))


def test_closing_ends_the_process(side: Remote) -> None:
    side.close()
    assert side._process.returncode == 0


ORPHAN = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_compare_remote import Remote
print(Remote("stand-in", {__file__!r})._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_the_process_ends_with_the_one_that_started_it() -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", ORPHAN], env=environment, capture_output=True, text=True)
    stat = Path(f"/proc/{int(done.stdout)}/stat")
    for _ in range(300):
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.1)
    pytest.fail("it is still running")


def test_messages_survive_the_way_and_a_cut_one_is_the_end() -> None:
    value = Value("a", "add", "b.c", Place("model.py", 3, code="x + y"))
    stream = io.BytesIO()
    messages.send(stream, {"value": messages.told(value)}, [np.arange(6).reshape(2, 3), np.float32(2)])
    stream.seek(0)
    received = messages.received(stream)
    assert received is not None
    assert messages.heard(received[0]["value"]) == value
    np.testing.assert_array_equal(received[1][0], np.arange(6).reshape(2, 3))
    assert messages.received(stream) is None
    assert messages.received(io.BytesIO(stream.getvalue()[:-1])) is None
