from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Some virtual machines announce AMX and trap on it: bfloat16 would end the test process. Set before torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")
# Test processes side by side otherwise wait for each other's threads. Children inherit it; whoever wants two, says so.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A shell starts what it sends to the background deaf to Ctrl-C, and children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path; installed if it is missing, since a page that no browser has shown is not tested."""
    with open(Path(tempfile.gettempdir()) / "sleuth-tests-chromium.lock", "w") as lock:
        # Several test processes must not install it at once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = shutil.which("chromium")
        if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
            quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            for words in (["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]):
                subprocess.run(words, check=True, env=quiet, stdout=subprocess.DEVNULL)
            found = shutil.which("chromium")
    if found is None:
        pytest.fail("there is no chromium here, and it cannot be installed: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    # A busy machine is no failure.
    expect.set_options(timeout=20_000)
    # Not for the session: while playwright runs, nothing else in the process can use asyncio.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()
