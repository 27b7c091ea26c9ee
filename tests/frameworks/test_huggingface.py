"""Hugging Face's Trainer: the same bugs found by the same rules, under `sleuth run` and by the callback."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

COLUMN = "huggingface"
FRAMEWORK = (
    "torch",
    "transformers.trainer",
    "transformers.models.bert.modeling_bert",
    "transformers.models.gpt2.modeling_gpt2",
)
PROGRAMS = Path(__file__).parent / "programs" / COLUMN
# Where the training ended up, to the last bit.
WEIGHTS = """
import hashlib
held = [value.numpy().tobytes() for value in trainer.model.state_dict().values()]
print("weights", hashlib.sha256(b"".join(held)).hexdigest())
"""


def with_callback(source: str) -> str:
    """The same program, every line where it was, with the callback in its trainer."""
    first = "import torch\n"
    assert first in source
    source = source.replace(first, "import torch; from sleuth.integrations.huggingface import SleuthCallback\n", 1)
    if "callbacks=[" in source:
        return source.replace("callbacks=[", "callbacks=[SleuthCallback(), ", 1)
    trainer = re.compile(r"(Trainer\(\s*)(model=)")
    assert trainer.search(source)
    return trainer.sub(r"\1callbacks=[SleuthCallback()], \2", source, count=1)


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


def test_a_nan_that_the_trainer_would_hide_stops_the_training_before_it_spoils_the_weights(run: Any) -> None:
    source = with_callback((PROGRAMS / "nan_loss.py").read_text(encoding="utf-8"))
    source = source.replace("Trainer(callbacks", "trainer = Trainer(callbacks").replace(
        ").train()", ")\ntrainer.train()"
    )
    source += "print('finite', all(p.isfinite().all().item() for p in trainer.model.parameters()))\n"
    source += "print('steps', trainer.state.global_step)\n"
    ran = run(source, watched=False)
    assert "error[division-by-zero]" in ran.stderr
    assert "finite True" in ran.stdout
    assert int(re.findall(r"steps (\d+)", ran.stdout)[0]) < 120
    assert ran.status == 0


def test_a_loop_over_folds_is_not_taken_for_the_training_loop(run: Any) -> None:
    source = (PROGRAMS / "nan_loss.py").read_text(encoding="utf-8")
    before, training = source.split("Trainer(model", 1)
    loop = "for fold in range(2):\n    print('fold', fold)\n    trainer = Trainer(model"
    ran = run(before + loop + training.rstrip() + "\n    if fold > 5:\n        break\n", options=("--keep-going",))
    assert [name for name, _ in ran.named] == ["division-by-zero"]
    assert re.findall(r"fold (\d)", ran.stdout) == ["0", "1"]


def test_the_callback_reports_what_it_knows_when_the_training_crashes(run: Any) -> None:
    source = with_callback((PROGRAMS / "dead_layer.py").read_text(encoding="utf-8"))
    crash = '        if self.state.global_step > 110:\n            raise ValueError("no more")\n'
    ran = run(source.replace("        return (loss", crash + "        return (loss"), watched=False)
    assert "ValueError: no more" in ran.stderr
    assert "warning[dead-units]" in ran.stderr
    assert ran.status == 1


def test_sleuth_run_finds_it_in_an_unmodified_script_that_imports_transformers_itself(run_alone: Any) -> None:
    source = (PROGRAMS / "missing_zero_grad.py").read_text(encoding="utf-8")
    ran = run_alone(source, "-m", "sleuth", "run", "--no-record")
    assert "error[missing-zero-grad]" in ran.stderr
    assert ran.status == 1
