"""Keras 3 on torch: bugs of unmodified programs at their lines, their twins, healthy programs, weights left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

COLUMN = ("keras", "keras_on_torch")
FRAMEWORK = ("torch", "keras")
SETTINGS = {"KERAS_BACKEND": "torch"}
PROGRAMS = Path(__file__).parent / "programs" / "keras"


def test_the_bug_is_named_with_its_line(bug: Any, run: Any) -> None:
    ran = run(bug.source)
    assert ran.named == [bug.found], ran.stderr
    assert ran.status == 1


def test_the_twin_with_that_line_mended_is_silent(bug: Any, run: Any) -> None:
    ran = run(bug.mended)
    assert (ran.named, ran.status) == ([], 0), ran.stderr


def test_a_healthy_loop_is_silent(healthy: Any, run: Any) -> None:
    ran = run(healthy.source)
    assert (ran.named, ran.status) == ([], 0), ran.stderr


def test_run_by_python_a_nan_ends_the_training_and_the_report_is_printed(run: Any) -> None:
    ran = run((PROGRAMS / "nan_loss.py").read_text(), watched=False)
    assert "error[division-by-zero]" in ran.stderr
    assert "Epoch 2/2" not in ran.stdout


TRAIN = """
import hashlib, json
import keras, numpy as np
from keras import layers
from sleuth.integrations.keras import SleuthCallback

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(500, 8)).astype("float32"), rng.integers(0, 3, 500)
model = keras.Sequential([keras.Input((8,)), layers.Dense(32), layers.BatchNormalization(), layers.ReLU(),
                          layers.Dropout(0.2), layers.Dense(3)])
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(x, y, batch_size=32, epochs=3, verbose=0, callbacks=[SleuthCallback()])
weights = hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest()
print(json.dumps([weights, history.history]))
"""


def test_weights_and_history_are_the_same_with_and_without_the_callback(run: Any) -> None:
    bare = TRAIN.replace("[SleuthCallback()]", "[]")
    told = [json.loads(run(source, watched=False).stdout.splitlines()[0]) for source in (TRAIN, bare)]
    assert told[0] == told[1]


STEPS = TRAIN.replace("[SleuthCallback()]", "[]").replace(
    "weights = ", "model.evaluate(x, y, verbose=0)\nmodel.train_on_batch(x[:32], y[:32])\nweights = "
)


def test_watched_or_not_it_prints_the_same_and_each_step_counts_once(run: Any) -> None:
    watched, bare = run(STEPS), run(STEPS, watched=False)
    assert watched.stdout == bare.stdout
    # Three epochs of sixteen batches, and one batch more; validation is no training.
    assert "nothing found in 49 steps" in watched.stderr


def test_under_sleuth_run_the_callback_watches_nothing_twice(run: Any) -> None:
    assert "nothing found in 48 steps" in run(TRAIN).stderr


def test_an_error_of_ours_does_not_reach_fit(run: Any) -> None:
    broken = STEPS.replace("history = ", "import sleuth.live.keras.losses as ours\nours.looks = None\nhistory = ")
    ran = run(broken, fails=True)
    assert ran.stderr.count("an error inside Sleuth") == 1
    assert ran.stdout == run(STEPS, watched=False).stdout
