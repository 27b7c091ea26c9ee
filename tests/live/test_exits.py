"""Whatever way a program ends by, its report is made."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from sleuth.live import exits


def test_the_first_interrupt_hurries_the_report_and_the_second_ends_it() -> None:
    hurried: list[bool] = []
    with exits.unhurried(lambda: hurried.append(True)):
        signal.raise_signal(signal.SIGINT)
        assert hurried == [True]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_the_programs_own_handler_is_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with exits.unhurried(lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_at_the_very_end_still_gives_the_report(run_script: Callable) -> None:
    ran = run_script("""
        import os, signal, sys
        import torch
        w = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([w], lr=0.1)
        for step in range(5):
            optimizer.zero_grad()
            (w - 2).square().sum().backward()
            optimizer.step()
        os.kill(os.getpid(), signal.SIGINT)
    """)
    assert ran.report["watched"]["steps"] == 5
    assert "nothing found in 5 steps, interrupted" in ran.stderr


def test_an_interrupt_while_the_report_is_made_does_not_lose_it(run_script: Callable) -> None:
    ran = run_script("""
        import os, signal, sys
        run = sys.modules["sleuth.live.run"]
        import torch
        tell = run._Closing._tell
        def interrupted(self, *args):
            os.kill(os.getpid(), signal.SIGINT)
            tell(self, *args)
        run._Closing._tell = interrupted
        w = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([w], lr=0.1)
        for step in range(5):
            optimizer.zero_grad()
            (w - 2).square().sum().backward()
            optimizer.step()
    """)
    assert ran.status == 0, ran.stderr
    assert "nothing found in 5 steps" in ran.stderr


def test_a_thread_that_a_verdict_ends_says_nothing_of_it(run_script: Callable) -> None:
    ran = run_script("""
        import threading
        import torch
        def train():
            w = torch.ones(3, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            loss = (w - 2).log().sum()
            loss.backward()
            optimizer.step()
            loss = (w - 2).log().sum()
            loss.backward()
            optimizer.step()
        threading.Thread(target=train).start()
    """)
    assert [finding["diagnosis"] for finding in ran.findings] == ["log-of-negative"]
    assert "Traceback" not in ran.stderr
