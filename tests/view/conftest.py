"""Runs to look at, written as the record writes them, and a real Chromium to look at them with."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from sleuth.view.data import Run
from sleuth.view.server import Server

SOURCE = """\
import torch


def cross_entropy(p, y):
    return -(y * torch.log(p)).sum(1).mean()


optimizer = torch.optim.SGD(model.parameters(), lr=3.0)
"""
PLACE = {"path": "train.py", "line": 5, "column": 18, "end_line": 5, "code": "torch.log(p)"}
FINDING: dict[str, Any] = {
    "diagnosis": "log-of-zero",
    "title": "log of a value that reached 0",
    "certainty": "certain",
    "severity": "error",
    "kind": "training-anomaly",
    "root_cause": "invalid-range",
    "stage": "model-training",
    "effect": "nan",
    "place": PLACE,
    "step": 60,
    "rank": None,
    "evidence": [{"name": "input minimum", "value": 0.0}],
    "chain": [{"place": PLACE, "what": "log gave -inf in 1 of 128 values"}],
    "fixes": [
        {
            "title": "keep the argument away from 0",
            "edits": [
                {
                    "path": "train.py",
                    "line": 5,
                    "column": 28,
                    "end_line": 5,
                    "end_column": 29,
                    "replacement": "p.clamp(min=1e-8)",
                }
            ],
            "verified": True,
        }
    ],
}
NO_PROCESS = 2**22 + 1  # more than any Linux gives out


class Recorded:
    """A run's record as the run itself would write it."""

    def __init__(self, root: Path, process: int = NO_PROCESS) -> None:
        self.folder = root / ".sleuth" / "runs" / f"20261116-120000-train-{process}"
        self.folder.mkdir(parents=True)
        (root / "train.py").write_text(SOURCE)

    def write(self, *rows: dict[str, Any], rank: int = 0) -> None:
        with open(self.folder / (f"record-rank{rank}.jsonl" if rank else "record.jsonl"), "a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    def start(self, rank: int = 0, ranks: int = 1, program: str = "train.py") -> None:
        self.write(
            {
                "row": "start",
                "schema": 2,
                "program": program,
                "arguments": ["--lr", "3"],
                "time": time.time() - 75,
                "rank": rank,
                "ranks": ranks,
                "framework": "torch",
            },
            rank=rank,
        )

    def values(self, step: int, values: dict[str, Any], steps: int = 1, rank: int = 0) -> None:
        self.write({"row": "values", "step": step, "steps": steps, "time": step / 10 + 0.1, "v": values}, rank=rank)

    def finding(self, rank: int = 0, **changes: Any) -> None:
        self.write({"row": "finding", "finding": {**FINDING, **changes}}, rank=rank)

    def end(self, status: int = 0, how: str = "ended", steps: int = 100) -> None:
        self.write({"row": "end", "exit": status, "how": how, "steps": steps, "time": time.time()})

    def age(self, seconds: float) -> None:
        """As if nothing had been written for so long."""
        for path in self.folder.iterdir():
            os.utime(path, (time.time() - seconds,) * 2)


def usual(step: int, layers: int = 30) -> dict[str, Any]:
    """What one step of an ordinary run gives."""
    values: dict[str, Any] = {
        "loss": 2.0 / (1 + step / 20),
        "gradient norm": [1.0, 0.5, 2.0, 4],
        "learning rate": 0.001,
        "step seconds": 0.04,
        "data seconds": 0.01,
        "memory bytes": 1e9 + step * 1e6,
    }
    for layer in range(layers):
        values[f"gradient norm/encoder.layers.{layer}.linear.weight"] = 10.0 ** (layer / 10 - 3) * (1 + step % 3 / 10)
        values[f"dead share/encoder.layers.{layer}"] = layer / 100
    return values


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """A run with nothing recorded yet, and the folder it was started in as the current one."""
    monkeypatch.chdir(tmp_path)
    return Recorded(tmp_path)


@pytest.fixture
def another(recorded: Recorded) -> Recorded:
    """A run that lies beside it."""
    return Recorded(recorded.folder.parents[2], NO_PROCESS + 1)


@pytest.fixture
def story(recorded: Recorded) -> Recorded:
    """A run of 100 steps that ended with two findings."""
    recorded.start()
    for step in range(100):
        recorded.values(step, usual(step))
    recorded.values(50, {"evaluation loss": 0.7})
    likely = {"diagnosis": "learning-rate-too-high", "title": "the learning rate is too high"}
    place = {"path": "train.py", "line": 8, "column": 13, "end_line": 8, "code": None}
    recorded.finding(**likely, certainty="likely", severity="warning", place=place, step=20, fixes=[])
    recorded.finding()
    recorded.end(1, "stopped")
    return recorded


@pytest.fixture
def serve() -> Iterator[Callable[[Path], Server]]:
    """Serves a run's folder from this process for as long as the test lasts."""
    servers: list[Server] = []

    def start(folder: Path) -> Server:
        server = Server(Run(folder))
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


class Sight:
    """A page in the browser, and what it asked for and complained about."""

    def __init__(self, browser: Browser, **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def open(self, url: str) -> Page:
        self.page.goto(url)
        self.page.wait_for_selector("html[data-drawn]")
        return self.page


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Sight]]:
    """Opens a window; options as a playwright context takes them."""
    sights: list[Sight] = []

    def new(**context: Any) -> Sight:
        sights.append(Sight(browser, **context))
        return sights[-1]

    yield new
    for sight in sights:
        sight.context.close()
