"""The pytest plugin in a project of someone else's: Sleuth is installed there, and pytest finds it by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TIMEOUT = 600

TRAINING = """
    import torch
    from torch import nn

    def train(bad=False, zero=True, steps=40):
        torch.manual_seed(0)
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        x = torch.randn(8, 3)
        y = x.sum(1, keepdim=True)
        for step in range(steps):
            loss = nn.functional.mse_loss(model(x), y)
            if bad and step == 4:
                loss = loss + torch.sqrt(model(x) - 100).mean()
            if zero:
                optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
MARKED = """
    import unittest

    import pytest
    from training import train

    @pytest.mark.sleuth
    def test_good():
        train()

    @pytest.mark.sleuth
    def test_nan():
        train(bad=True)
        raise SystemError("the test went on")

    @pytest.mark.sleuth
    def test_zero_grad():
        train(zero=False)

    @pytest.mark.sleuth(ignore="missing-zero-grad")
    def test_ignored():
        train(zero=False)

    @pytest.mark.sleuth(expect=["the loss falls by half within 20 steps"])
    def test_kept():
        train()

    @pytest.mark.sleuth(expect=["the loss falls below 0.000001 within 20 steps"])
    def test_broken():
        train()

    @pytest.mark.sleuth
    def test_fails_by_itself():
        train(zero=False)
        assert 1 == 2

    @pytest.mark.sleuth
    def test_skipped():
        pytest.skip("not today")

    @pytest.fixture
    def trained():
        train(bad=True)

    @pytest.mark.sleuth
    def test_fixture(trained):
        pass

    class TestOldStyle(unittest.TestCase):
        @pytest.mark.sleuth
        def test_nan(self):
            train(bad=True)

    def test_unmarked():
        train(zero=False)

    @pytest.mark.sleuth(watch=False)
    def test_never():
        train(zero=False)
"""
ORACLES = """
    import pytest
    import torch
    from torch import nn

    from sleuth.testing import assert_learns_one_batch

    BATCH = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])

    def test_learns():
        model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
        assert_learns_one_batch(model, BATCH, nn.CrossEntropyLoss())

    @pytest.mark.sleuth
    def test_does_not_learn():
        model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(1))
        assert_learns_one_batch(model, BATCH, nn.CrossEntropyLoss(), steps=50)
"""


@dataclass(frozen=True)
class Ran:
    status: int
    output: str

    @property
    def outcomes(self) -> dict[str, str]:
        """Outcome by test, from the summary of `-rA`."""
        found = re.findall(r"^(PASSED|FAILED|ERROR|XFAIL) \S+?::(\S+)", self.output, re.MULTILINE)
        return {name: outcome for outcome, name in found}

    def section(self, test: str) -> str:
        """What is told of one failing test."""
        match = re.search(
            rf"^_+ (?:ERROR at setup of )?{re.escape(test)} _+$(.*?)(?=^_{{3,}} |^=+ )", self.output, re.M | re.S
        )
        assert match is not None, self.output
        return match[1]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sleuth as a wheel installs it, with its metadata, in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT)
    return folder


@pytest.fixture
def project(tmp_path: Path, installed: Path) -> Callable[..., Ran]:
    """Run pytest in a folder with these files."""

    def run(*arguments: str, **files: str) -> Ran:
        for name, source in files.items():
            suffix = ".toml" if name == "pyproject" else ".py"
            (tmp_path / f"{name}{suffix}").write_text(textwrap.dedent(source))
        environment = {**os.environ, "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        for name in [name for name in environment if name.startswith("PYTEST_")]:
            del environment[name]
        command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        return Ran(done.returncode, done.stdout + done.stderr)

    return run


def test_marked_tests_fail_for_what_is_found_and_only_for_that(project: Callable[..., Ran]) -> None:
    ran = project("--strict-markers", training=TRAINING, test_marked=MARKED)
    assert ran.outcomes == {
        "test_good": "PASSED",
        "test_nan": "FAILED",
        "test_zero_grad": "FAILED",
        "test_ignored": "PASSED",
        "test_kept": "PASSED",
        "test_broken": "FAILED",
        "test_fails_by_itself": "FAILED",
        "test_fixture": "ERROR",
        "TestOldStyle::test_nan": "FAILED",
        "test_unmarked": "PASSED",
        "test_never": "PASSED",
    }, ran.output
    assert ran.status == 1
    nan = ran.section("test_nan")
    assert nan.lstrip().startswith("sleuth: training.py:14: square root of a negative value [sqrt-of-negative]")
    assert "the test was ended there, after 4 steps" in nan
    assert re.search(r"^-+ sleuth -+$", nan, re.MULTILINE)
    assert "torch.sqrt(model(x) - 100)" in nan
    assert "Traceback" not in ran.output
    assert "Stop" not in ran.output
    assert "During handling" not in ran.output
    assert "training.py:17" in ran.section("test_zero_grad")
    assert "expected: the loss falls below 0.000001 within 20 steps" in ran.section("test_broken")
    own = ran.section("test_fails_by_itself")
    assert "assert 1 == 2" in own
    assert "missing-zero-grad" in own
    assert "sqrt-of-negative" in ran.section("test_fixture")
    assert "sqrt-of-negative" in ran.section("TestOldStyle.test_nan")
    assert re.search(
        r"^sleuth: 10 tests watched, 6 with findings: broken-expectation, missing-zero-grad, sqrt-of-negative$",
        ran.output,
        re.MULTILINE,
    ), ran.output


def test_oracles_hold_and_fail_and_a_watch_does_not_hear_them(project: Callable[..., Ran]) -> None:
    ran = project("-n", "2", "-k", "learn or test_nan", test_oracles=ORACLES, training=TRAINING, test_marked=MARKED)
    assert ran.outcomes["test_learns"] == "PASSED"
    assert ran.outcomes["test_does_not_learn"] == "FAILED"
    assert ran.outcomes["test_nan"] == "FAILED"
    told = ran.section("test_does_not_learn")
    assert "AssertionError: the model does not learn one batch" in told
    assert "softmax-before-cross-entropy" in told
    assert not re.search(r"^-+ sleuth -+$", told, re.MULTILINE)
    assert "learns_one_batch.py" not in told
    assert "sleuth: 3 tests watched, 2 with findings: sqrt-of-negative" in ran.output


ALL = """
    import pytest
    import torch
    from training import train

    def test_good():
        train()

    def test_silenced_on_the_line():
        train(zero=False)

    def test_silenced_in_the_project():
        train(bad=True)

    def test_log():
        weight = torch.zeros(2, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.1)
        torch.log(weight).sum().backward()
        optimizer.step()

    @pytest.mark.sleuth(watch=False)
    def test_left_alone():
        test_log()
"""


def test_every_test_can_be_watched_and_names_ignored(project: Callable[..., Ran]) -> None:
    ran = project(
        "--sleuth",
        "--sleuth-ignore",
        "missing-zero-grad",
        pyproject='[tool.sleuth]\nignore = ["sqrt-of-negative"]\n',
        training=TRAINING,
        test_all=ALL,
    )
    assert ran.outcomes == {
        "test_good": "PASSED",
        "test_silenced_on_the_line": "PASSED",
        "test_silenced_in_the_project": "PASSED",
        "test_log": "FAILED",
        "test_left_alone": "PASSED",
    }, ran.output
    assert "sleuth: 4 tests watched, 1 with findings: log-of-zero" in ran.output


PLAIN = """
    import sys

    def test_nothing_is_imported():
        assert "sleuth.integrations.pytest" in sys.modules
        assert sys.modules["sleuth"].__file__.startswith({installed!r})
        heavy = ("torch", "sleuth.live", "sleuth.report", "sleuth.handbook", "rich")
        assert not [name for name in heavy if name in sys.modules]
"""


def test_a_project_without_torch_pays_nothing(project: Callable[..., Ran], installed: Path) -> None:
    ran = project(test_plain=PLAIN.format(installed=str(installed)))
    assert ran.outcomes == {"test_nothing_is_imported": "PASSED"}, ran.output
    assert "sleuth:" not in ran.output
    watched = project("--sleuth", test_plain="import sys\ndef test_it():\n    assert 'torch' not in sys.modules\n")
    assert watched.outcomes == {"test_it": "PASSED"}, watched.output
    assert "sleuth: 1 test watched, nothing found" in watched.output
    without = project(
        "-p", "no:sleuth", test_plain="import sys\ndef test_it():\n    assert 'sleuth' not in sys.modules\n"
    )
    assert without.outcomes == {"test_it": "PASSED"}, without.output


@pytest.mark.parametrize(
    ("marker", "arguments", "says"),
    [
        ("sleuth(ignore='log-of-zer')", (), "log-of-zer"),
        ("sleuth(ignored=[])", (), "takes expect=, ignore= and watch=, not ignored="),
        ("sleuth", ("--sleuth-ignore", "nonsense"), "--sleuth-ignore: there is no diagnosis called 'nonsense'"),
    ],
)
def test_a_marker_that_cannot_be_read_is_a_usage_error(
    marker: str, arguments: tuple[str, ...], says: str, project: Callable[..., Ran]
) -> None:
    ran = project(*arguments, test_it=f"import pytest\n@pytest.mark.{marker}\ndef test_it(): pass\n")
    assert ran.status == pytest.ExitCode.USAGE_ERROR, ran.output
    assert says in ran.output
    assert "Traceback" not in ran.output
    assert "INTERNALERROR" not in ran.output


def test_an_expectation_that_cannot_be_read_fails_its_test(project: Callable[..., Ran]) -> None:
    ran = project(test_it="import pytest\n@pytest.mark.sleuth(expect='abracadabra')\ndef test_it(): pass\n")
    assert ran.outcomes == {"test_it": "FAILED"}
    assert "@pytest.mark.sleuth(expect=...): cannot read 'abracadabra'" in ran.section("test_it")
