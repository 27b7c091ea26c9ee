"""Lightning: the same bugs found by the same rules, under `sleuth run` and by the callback."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

COLUMN = "lightning"
FRAMEWORK = ("torch", "lightning")
PROGRAMS = Path(__file__).parent / "programs" / COLUMN
# Where the training ended up, to the last bit.
WEIGHTS = """
import hashlib
held = [value.numpy().tobytes() for value in trainer.lightning_module.state_dict().values()]
print("weights", hashlib.sha256(b"".join(held)).hexdigest())
"""


def with_callback(source: str) -> str:
    """The same program, every line where it was, with the callback in its trainer."""
    first = "import lightning as L"
    assert source.startswith(first)
    source = source.replace(first, f"{first}; from sleuth.integrations.lightning import SleuthCallback", 1)
    if "callbacks=[" in source:
        return source.replace("callbacks=[", "callbacks=[SleuthCallback(), ", 1)
    return source.replace("L.Trainer(", "L.Trainer(callbacks=[SleuthCallback()], ", 1)


def test_the_bug_is_named_with_its_line(bug: Any, run: Any) -> None:
    ran = run(bug.source)
    assert ran.named == [bug.found], ran.stderr
    assert ran.status == 1


def test_the_twin_with_that_line_mended_is_silent(bug: Any, run: Any) -> None:
    ran = run(bug.mended)
    assert (ran.named, ran.status) == ([], 0), ran.stderr


def test_the_callback_reports_the_same_at_the_end_of_the_training(bug: Any, run: Any) -> None:
    ran = run(with_callback(bug.source), watched=False)
    diagnosis, line = bug.found
    assert re.findall(r"^(?:error|warning)\[(.*)\]", ran.stderr, re.MULTILINE) == [diagnosis], ran.stderr
    assert re.search(rf"--> train\.py:{line}\b", ran.stderr), ran.stderr
    assert ran.status == 0


def test_a_healthy_program_is_silent_and_its_weights_are_the_same_to_the_last_bit(healthy: Any, run: Any) -> None:
    alone = run(healthy.source + WEIGHTS, watched=False)
    watched = run(healthy.source + WEIGHTS)
    called_back = run(with_callback(healthy.source) + WEIGHTS, watched=False)
    assert (watched.named, watched.status) == ([], 0), watched.stderr
    assert "sleuth" not in called_back.stderr
    weights = [re.findall(r"^weights (\w+)$", ran.stdout, re.MULTILINE) for ran in (alone, watched, called_back)]
    assert len(weights[0]) == 1, alone.stderr
    assert weights[0] == weights[1] == weights[2]


def test_under_the_older_name_a_nan_stops_the_training_before_it_spoils_the_weights(run_alone: Any) -> None:
    source = with_callback((PROGRAMS / "nan_loss.py").read_text(encoding="utf-8"))
    source = source.replace("import lightning as L", "import pytorch_lightning as L")
    source += "print('finite', all(p.isfinite().all().item() for p in trainer.model.parameters()))\n"
    ran = run_alone(source)
    assert "error[division-by-zero]" in ran.stderr
    assert "finite True" in ran.stdout
    assert ran.status == 0


def test_a_callback_inside_sleuth_run_leaves_the_report_to_it(run: Any) -> None:
    ran = run(with_callback((PROGRAMS / "dead_layer.py").read_text(encoding="utf-8")))
    assert [name for name, _ in ran.named] == ["dead-units"]
    assert "warning[" not in ran.stderr


def test_sleuth_run_finds_it_in_an_unmodified_script_that_imports_lightning_itself(run_alone: Any) -> None:
    source = (PROGRAMS / "missing_zero_grad_manual.py").read_text(encoding="utf-8")
    ran = run_alone(source, "-m", "sleuth", "run", "--no-record")
    assert "error[missing-zero-grad]" in ran.stderr
    assert ran.status == 1
