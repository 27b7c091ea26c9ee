"""Whatever a program does, its training is watched, or it is said that none was seen, and why."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

# A module of the program's: a training whose loss is NaN at once.
BAD = """
import torch

def train():
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for step in range(5):
        loss = (w - 2).log().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("trained")
"""

WATCHED = {
    "after a look-up": """
        import importlib.util
        assert importlib.util.find_spec("torch") is not None
        import bad
        bad.train()
    """,
    "with torch imported lazily": """
        import importlib.util, sys
        spec = importlib.util.find_spec("torch")
        spec.loader = importlib.util.LazyLoader(spec.loader)
        torch = importlib.util.module_from_spec(spec)
        sys.modules["torch"] = torch
        spec.loader.exec_module(torch)
        assert torch.ones(1).item() == 1
        import bad
        bad.train()
    """,
    "after the optimisers' module was reloaded": """
        import importlib, sys
        import bad
        importlib.reload(sys.modules["torch.optim.optimizer"])
        importlib.reload(sys.modules["torch.optim.sgd"])
        bad.torch.optim.SGD = sys.modules["torch.optim.sgd"].SGD
        bad.train()
    """,
    "imported and trained in a thread": """
        import threading
        def work():
            import bad
            bad.train()
        threading.Thread(target=work).start()
    """,
    "in a spawned process": """
        import multiprocessing
        def work():
            import bad
            bad.train()
        if __name__ == "__main__":
            process = multiprocessing.get_context("spawn").Process(target=work)
            process.start()
            process.join()
    """,
    "in a forked process": """
        import multiprocessing
        import bad
        process = multiprocessing.get_context("fork").Process(target=bad.train)
        process.start()
        process.join()
    """,
    "in a worker of a pool": """
        import multiprocessing
        import bad
        with multiprocessing.get_context("fork").Pool(1) as pool:
            pool.apply(bad.train)
    """,
    "in a program that it starts": """
        import subprocess, sys
        subprocess.run([sys.executable, "-c", "import bad; bad.train()"])
    """,
    "by a program that swallows every error": """
        import bad
        try:
            bad.train()
        except BaseException:
            pass
    """,
    "by a program that leaves by os._exit": """
        import os
        import bad
        try:
            bad.train()
        finally:
            os._exit(0)
    """,
    "in a step that is compiled as a whole": """
        import torch
        w = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([w], lr=0.1)
        @torch.compile(backend="eager")
        def step():
            optimizer.zero_grad()
            loss = (w - 2).log().sum()
            loss.backward()
            optimizer.step()
        for _ in range(5):
            step()
    """,
}

UNSEEN = {
    "no framework": ("print('done')", "neither torch nor JAX"),
    "evaluation": (
        """
        import torch
        with torch.no_grad():
            torch.nn.Linear(2, 1)(torch.ones(1, 2))
        """,
        "no backward pass",
    ),
    "gradients taken by hand": (
        """
        import torch
        w = torch.ones(3, requires_grad=True)
        for step in range(5):
            (gradient,) = torch.autograd.grad((w - 2).log().sum(), w)
            w = (w - 0.1 * gradient).detach().requires_grad_()
        """,
        "torch.autograd.grad",
    ),
    "a backward pass that was replaced": (
        """
        import torch
        torch.autograd.backward = lambda *args, **kwargs: None
        torch.ones(1, requires_grad=True).sum().backward()
        """,
        "replaced torch.autograd.backward",
    ),
    "a process that cannot be entered": (
        """
        import subprocess, sys
        child = "import sys; sys.path.insert(0, '.'); import bad; bad.train()"
        subprocess.run([sys.executable, "-I", "-c", child])
        """,
        "it started a process",
    ),
    "another program in its place": (
        """
        import os, sys
        os.execv(sys.executable, [sys.executable, "-c", "import bad; bad.train()"])
        """,
        "neither torch nor JAX",
    ),
}


@pytest.fixture(autouse=True)
def module(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)


@pytest.mark.parametrize("way", WATCHED)
def test_training_is_watched(way: str, run_script: Callable) -> None:
    ran = run_script(WATCHED[way])
    assert [finding["diagnosis"] for finding in ran.findings] == ["log-of-negative"], ran.stderr
    assert ran.status == 1


@pytest.mark.parametrize("way", UNSEEN)
def test_what_is_not_seen_is_said(way: str, run_script: Callable) -> None:
    source, why = UNSEEN[way]
    ran = run_script(source)
    assert ran.status == 0
    assert (ran.findings, ran.report["watched"]["steps"]) == ([], 0)
    assert why in ran.report["watched"]["why"]
    assert f"no training was seen, so nothing is known about it: {ran.report['watched']['why']}" in ran.stderr
    assert "nothing found" not in ran.stderr


def test_steps_of_a_healthy_run_are_counted_in_all_processes(run_script: Callable) -> None:
    ran = run_script("""
        import multiprocessing
        import torch
        def train(steps):
            w = torch.nn.Parameter(torch.ones(3))
            optimizer = torch.optim.SGD([w], lr=0.1)
            for step in range(steps):
                optimizer.zero_grad()
                (w - 2).square().sum().backward()
                optimizer.step()
        train(7)
        process = multiprocessing.get_context("fork").Process(target=train, args=(5,))
        process.start()
        process.join()
    """)
    assert ran.report["watched"] == {"steps": 12, "why": None}
    assert "nothing found in 12 steps in 2 processes" in ran.stderr


def test_a_compiled_step_is_no_step_that_never_comes(run_script: Callable) -> None:
    ran = run_script("""
        import torch
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        @torch.compile(backend="eager")
        def step(x, y):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        for _ in range(20):
            x = torch.randn(16, 4)
            step(x, (x.sum(1) > 0).long())
        from torch._dynamo.utils import counters
        print(counters["stats"]["unique_graphs"])
    """)
    assert ran.findings == [], ran.stderr
    # The last one is known by the backward pass after it.
    assert ran.report["watched"]["steps"] == 19


def test_what_an_exit_handler_trains_is_said_to_be_unseen(run_script: Callable) -> None:
    ran = run_script("""
        import atexit
        import bad
        atexit.register(bad.train)
    """)
    assert "no training was seen" in ran.stderr
    assert "it trains on after its end" in ran.stderr
    assert ran.stdout == "trained\n"


def test_a_block_without_training_says_so(tmp_path: Path, environment: dict[str, str]) -> None:
    source = """
        import sleuth, torch
        with sleuth.watch():
            torch.nn.Linear(2, 1)(torch.ones(1, 2))
        print(repr(sleuth.watch()))
    """
    (tmp_path / "block.py").write_text(textwrap.dedent(source))
    done = subprocess.run(
        [sys.executable, "block.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert "no training was seen in this block, so nothing is known about it: no backward pass" in done.stderr
    assert done.stdout.startswith("<sleuth.watch() watches nothing by itself")
    assert "sleuth: sleuth.watch() watches nothing by itself" in done.stderr
