"""How long `sleuth view` takes to show a long run: from the browser's request to the drawn curves.

A run of 50,000 steps with 200 values each, ten million in all, is recorded by the real writer, with a row as often as
it ever writes one. Chromium then loads its page and an empty one, in turn; a ratio is the median
over rounds of the one time divided by the other of the same round.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from sleuth.live import record
from sleuth.view.data import Run
from sleuth.view.server import Server

RESULT = Path(__file__).parent / "results" / "view_load.json"
LIMIT_SECONDS = 2.0
STEPS = 50_000
LAYERS = [f"encoder.layers.{index}.linear{part}.weight" for index in range(16) for part in range(4)]
NAMES = [
    *("loss", "gradient norm", "learning rate", "step seconds", "data seconds", "memory bytes", "accuracy", "scale"),
    *(f"{quantity}/{layer}" for quantity in ("gradient norm", "update ratio", "weight norm") for layer in LAYERS),
]
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SINCE_NAVIGATION = "() => performance.getEntriesByName('sleuth-drawn')[0].startTime"
UNTIL_LOADED = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"


def recorded(root: Path, steps: int) -> Path:
    """A run as its own writer leaves it, at its densest: as if each step took long enough to get a row."""
    record.SECONDS_BETWEEN_ROWS = 0.0
    writer = record.Record(root, "train.py")
    chance = random.Random(0)
    wobble = [0.5 + chance.random() for _ in range(10_007)]
    for step in range(steps):
        height = math.exp(-step / 10_000)
        writer.values(step, {name: height * wobble[(step * 31 + at * 977) % 10_007] for at, name in enumerate(NAMES)})
    writer.end(0, "ended", steps)
    return writer.folder


class EmptyPage(BaseHTTPRequestHandler):
    """What any page costs in this browser."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>empty</title><link rel=icon href=data:,>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@contextmanager
def served(server: ThreadingHTTPServer) -> Iterator[None]:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def load(browser: Browser, url: str, drawn: bool) -> float:
    """Seconds from the navigation's start to the drawn curves, or to the end of loading where nothing is drawn."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(url)
    if drawn:
        page.wait_for_selector("html[data-drawn]", timeout=60_000)
    spent = page.evaluate(SINCE_NAVIGATION if drawn else UNTIL_LOADED)
    context.close()
    return float(spent) / 1000


def in_browser(folder: Path, rounds: int) -> dict[str, list[float]]:
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("this measures in Chromium: apt-get install chromium")
    times: dict[str, list[float]] = {"run": [], "empty": []}
    run, empty = Server(Run(folder)), ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage)
    with served(run), served(empty), sync_playwright() as playwright:
        addresses = [("run", run.url), ("empty", f"http://127.0.0.1:{empty.server_port}/")]
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
        for number in range(rounds + 1):
            for name, address in random.sample(addresses, 2):
                spent = load(browser, address, drawn=name == "run")
                if number:
                    times[name].append(spent)
        browser.close()
    return times


def data_seconds(folder: Path) -> tuple[float, int]:
    """From the files to the answer's bytes, as the server makes it at its start."""
    started = time.perf_counter()
    size = len(json.dumps(Run(folder).page(), separators=(",", ":")))
    return time.perf_counter() - started, size


def measure(rounds: int, steps: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as root:
        started = time.perf_counter()
        folder = recorded(Path(root), steps)
        writing = time.perf_counter() - started
        reading = [data_seconds(folder) for _ in range(rounds)]
        times = in_browser(folder, rounds)
        seconds = statistics.median(times["run"])
        made = statistics.median(spent for spent, _ in reading)
        return {
            "values": steps * len(NAMES),
            "series": len(NAMES),
            "record_megabytes": round((folder / record.ROWS).stat().st_size / 1e6, 2),
            "page_data_megabytes": round(reading[0][1] / 1e6, 2),
            "writing_microseconds_per_value": round(writing / (steps * len(NAMES)) * 1e6, 2),
            "making_the_data_seconds": round(made, 3),
            "request_to_drawn_seconds": round(seconds, 3),
            "empty_page_seconds": round(statistics.median(times["empty"]), 3),
            "ratio_to_empty_page": round(
                statistics.median(a / b for a, b in zip(times["run"], times["empty"], strict=True)), 1
            ),
            "command_to_drawn_seconds": round(made + seconds, 3),
            "limit_seconds": LIMIT_SECONDS,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    random.seed(0)
    result = measure(arguments.rounds, arguments.steps)
    print("| | |\n|---|---:|")
    for name, value in result.items():
        print(f"| {name.replace('_', ' ')} | {value:,} |")
    about = {"python": platform.python_version(), "rounds": arguments.rounds, "steps": arguments.steps}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"about": about, **result}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
