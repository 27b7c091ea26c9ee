"""`sleuth dry` on Keras 3, on torch and on JAX: bugs at their lines with the history of shapes, and their twins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

# The last are what only torch minds.
COLUMN = ("dry_keras", "dry_keras_on_torch")
COMMAND = ("dry", "--no-corners")
FRAMEWORK = ("torch._dynamo", "keras", "sleuth.dry.rehearsal")
SETTINGS = {"KERAS_BACKEND": "torch"}
PROGRAMS = Path(__file__).parent / "programs" / "dry_keras"


def test_the_bug_is_named_with_its_line(bug: Any, run: Any) -> None:
    ran = run(bug.source)
    assert ran.named == [bug.found], ran.stderr
    assert ran.status == 1


def test_the_twin_with_that_line_mended_is_silent(bug: Any, run: Any) -> None:
    ran = run(bug.mended)
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "rehearsed to its end" in ran.stderr


def test_a_healthy_program_is_silent(healthy: Any, run: Any) -> None:
    ran = run(healthy.source)
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "rehearsed to its end" in ran.stderr


def told(ran: Any) -> list[tuple[str, int | None]]:
    """The chain of the one finding."""
    (finding,) = ran.findings
    return [(link["what"], link["place"] and link["place"]["line"]) for link in finding["chain"]]


def test_the_history_goes_from_the_input_layer_by_layer_with_lines(run: Any) -> None:
    ran = run((PROGRAMS / "last_step_only.py").read_text())
    assert told(ran)[:2] == [
        ("the model is built for (None, 12, 3) float32", 7),
        ("lstm (LSTM): (None, 12, 3) → (None, 6)", 9),
    ]
    assert "return_sequences=True" in ran.findings[0]["fixes"][0]["title"]


def test_the_history_of_a_subclassed_model_names_the_lines_of_its_call(run: Any) -> None:
    ran = run((PROGRAMS / "no_flatten.py").read_text())
    assert told(ran)[1:4] == [
        ("data: (32, 8, 8, 1) float32", 22),
        ("conv2d (Conv2D): (32, 8, 8, 1) → (32, 6, 6, 4)", 15),
        ("dense (Dense): (32, 6, 6, 4) → (32, 6, 6, 10)", 15),
    ]


def test_both_histories_of_a_join_are_told(run: Any) -> None:
    ran = run((PROGRAMS / "concatenate_sizes.py").read_text())
    assert [line for _, line in told(ran)] == [5, 7, 8]
    assert ran.findings[0]["title"] == "Concatenate cannot join (None, 12, 12, 4) and (None, 16, 16, 4)"


def test_the_number_that_would_fit_is_told(run: Any) -> None:
    ran = run((PROGRAMS / "image_into_dense_model.py").read_text())
    assert ran.findings[0]["title"] == "the model expects (None, 784) and is given (150, 28, 28)"
    assert "x.reshape(-1, 784)" in ran.findings[0]["fixes"][0]["title"]


BIG = """
import keras, numpy as np
from keras import layers
x, y = np.zeros((640, 64, 64, 3), "float32"), np.zeros({labels}, "int32")
model = keras.Sequential([keras.Input((64, 64, 3))])
for _ in range(6):
    model.add(layers.Conv2D(128, 3, padding="same", activation="relu"))
model.add(layers.GlobalAveragePooling2D())
model.add(layers.Dense(10, activation="softmax"))
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, batch_size=64, epochs=20, validation_split=0.1, verbose=0)
assert len(history.history["val_accuracy"]) == 20
assert model.predict(x, verbose=0).shape == (640, 10)
"""


def test_a_model_too_big_to_run_is_rehearsed_by_its_shapes_and_that_is_said(run: Any) -> None:
    ran = run(BIG.format(labels="640"))
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "would take too long here: only its shapes were rehearsed" in ran.stderr


def test_its_shapes_show_what_is_wrong(run: Any) -> None:
    ran = run(BIG.format(labels="(640, 10)"))
    assert ran.named == [("one-hot-into-sparse-loss", 11)], ran.stderr
