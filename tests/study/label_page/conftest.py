"""A small sample to label, servers for it in this process and in their own, and a real Chromium."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from label_samples import post, write_sample
from playwright.sync_api import Browser, Page

from sleuth.study.label.codebook import load_codebook
from sleuth.study.label.posts import posts_of
from sleuth.study.label.server import LabelServer
from sleuth.study.label.session import Session


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Eight posts."""
    return write_sample(tmp_path, [post(number) for number in range(1, 9)])


@pytest.fixture
def begin(sample: Path) -> Callable[..., Session]:
    """A rater's session on the sample; begun twice, it is as if the first had been killed."""

    def new(rater: str = "ann", round: int = 1, codebook: str = "kinds") -> Session:
        return Session(posts_of(sample), load_codebook(codebook), rater, round, sample.with_name("labels.jsonl"))

    return new


@pytest.fixture
def serve(begin: Callable[..., Session]) -> Iterator[Callable[..., LabelServer]]:
    """Serves a session from this process for as long as the test lasts."""
    servers: list[LabelServer] = []

    def start(*arguments: Any, **options: Any) -> LabelServer:
        server = LabelServer(begin(*arguments, **options), resume="sleuth study label again")
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


class Command:
    """`sleuth study label` as a process of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sleuth", "study", "label", "sample.json", "--no-open", *words],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().strip()

    @property
    def url(self) -> str:
        return self.said.split()[-1]

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def command(sample: Path) -> Iterator[Callable[..., Command]]:
    """Starts the command in the sample's folder; whatever still runs is killed in the end."""
    started: list[Command] = []

    def start(*words: str) -> Command:
        started.append(Command(sample.parent, *words))
        return started[-1]

    yield start
    for one in started:
        one.end()


class Window:
    """A browser of its own, and what its pages asked for, got and complained about."""

    def __init__(self, browser: Browser, **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self.context.on("console", lambda message: self.complaints.append(message.text))
        self.context.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))

    def open(self, url: str) -> Page:
        page = self.context.new_page()
        page.goto(url)
        page.wait_for_selector("html[data-drawn]")
        return page


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Window]]:
    """Opens a browser window; options as a playwright context takes them."""
    windows: list[Window] = []

    def new(**context: Any) -> Window:
        windows.append(Window(browser, **context))
        return windows[-1]

    yield new
    for window in windows:
        window.context.close()
