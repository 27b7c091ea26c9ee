"""What only the rehearsal can cause is never told as the program's crash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pretending import performed
from rehearsing import rehearsed

from sleuth.dry import ours_or_yours
from sleuth.dry.crash import crash_of
from sleuth.dry.journal import Journal
from sleuth.dry.scenario import Scenario
from sleuth.dry.stage import Stage, set_up

LIBRARY = """\
import torch


def check():
    if torch.cuda.is_available():
        raise TypeError("this card is not what it seems")


def fail():
    raise TypeError("never works")
"""
HEAD = "import sys\nsys.path.insert(0, 'site-packages')\nimport library\n"


def judged(folder: Path, func: Callable[..., Any], many: int, device: str = "cuda", **options: Any) -> str | None:
    """What is said of a call of `func`, given so many tensors, that raises on the pretended device."""
    stage = Stage(Scenario("test", **options), Journal(folder / "journal"), folder)
    with set_up(stage):
        try:
            stage.mode.perform(func, tuple(torch.ones(2, 3, device=device) for _ in range(many)), {})
        except RuntimeError as error:
            return ours_or_yours.why_ours(crash_of(error, stage))
    raise AssertionError("it did not raise")


@pytest.mark.parametrize("numbers", ["real", "fake"])
def test_a_call_that_goes_well_without_what_is_pretended_is_ours(tmp_path: Path, numbers: str) -> None:
    def only_here(x: Any) -> Any:
        if torch.cuda.is_available():
            raise RuntimeError("not here")
        return x

    assert "only among what is pretended" in str(judged(tmp_path, only_here, 1, numbers=numbers))


@pytest.mark.parametrize("numbers", ["real", "fake"])
def test_a_call_that_fails_plainly_as_well_is_not(tmp_path: Path, numbers: str) -> None:
    assert judged(tmp_path, torch.matmul, 2, numbers=numbers) is None


def test_what_the_cpu_says_of_its_own_kernels_is_ours_for_a_call_on_the_card(tmp_path: Path) -> None:
    def refuse(x: Any) -> Any:
        raise RuntimeError("Could not run 'aten::_cudnn_rnn' with arguments from the 'CPU' backend.")

    assert "would run on the card" in str(judged(tmp_path, refuse, 1))
    assert judged(tmp_path, refuse, 1, device="cpu") is None


def test_the_libraries_are_as_they_were_while_a_call_is_tried_plainly(tmp_path: Path) -> None:
    before = torch.cuda.is_available
    seen: list[bool] = []

    def look(x: Any) -> Any:
        seen.append(torch.cuda.is_available is before)
        raise RuntimeError("look")

    assert judged(tmp_path, look, 1) is None
    assert seen == [False, True]
    performed(lambda: None)
    assert torch.cuda.is_available is before


def _with_library(folder: Path, source: str, **options: Any) -> Any:
    (folder / "site-packages").mkdir()
    (folder / "site-packages" / "library.py").write_text(LIBRARY)
    return rehearsed(folder, HEAD + source, **options)


def test_what_a_library_raises_only_among_what_is_pretended_could_not_be_rehearsed(tmp_path: Path) -> None:
    done = _with_library(tmp_path, "library.check()\n")
    assert not done.report.findings
    assert done.plain.how == "cannot go on"
    assert "this card is not what it seems" in done.plain.end["detail"]
    assert done.plain.end["place"]["line"] == 4


def test_what_it_raises_in_any_case_is_certain(tmp_path: Path) -> None:
    (finding,) = _with_library(tmp_path, "library.fail()\n").report.findings
    assert (finding.diagnosis, finding.certainty) == ("crash-in-rehearsal", "certain")


def test_what_a_library_raises_after_processes_were_kept_off_is_not_told(tmp_path: Path) -> None:
    source = "import subprocess\nsubprocess.run(['make', 'all'])\nlibrary.fail()\n"
    done = _with_library(tmp_path, source)
    assert not done.report.findings
    assert done.plain.how == "cannot go on"


def test_what_a_line_of_the_program_raises_only_there_is_a_hint(tmp_path: Path) -> None:
    source = "import torch\nif torch.cuda.is_available():\n    {}['missing']\n"
    (finding,) = rehearsed(tmp_path, source).report.findings
    assert (finding.certainty, finding.severity) == ("hint", "note")


def test_what_cannot_be_tried_without_a_card_is_likely(tmp_path: Path) -> None:
    (finding,) = rehearsed(tmp_path, "import torch\nx = torch.ones(3).cuda()\n{}['missing']\n").report.findings
    assert (finding.certainty, finding.severity) == ("likely", "error")


def test_a_name_that_is_not_there_needs_no_second_look(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, "import torch\nx = torch.ones(3).cuda()\nprint(missing)\n")
    (finding,) = done.report.findings
    assert finding.certainty == "certain"
