"""A Keras model is compared in inference mode, but for what was built into it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("keras")
SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = """
import sys
import keras
from sleuth.compare.sides.keras_mode import inference

def built(**how):
    value = keras.Input((4,))
    return keras.Model(value, keras.layers.Dropout(0.5)(keras.layers.Dense(4)(value), **how))

def nested(inner):
    value = keras.Input((4,))
    return keras.Model(value, keras.layers.Dense(2)(inner(value)))

built(training=True).save(sys.argv[1])
loaded = keras.models.load_model(sys.argv[1])
models = [built(), built(training=True), nested(built()), nested(built(training=True)), loaded]
print([inference(model) for model in models])
"""


def test_a_layer_built_to_stay_in_training_mode_is_left_in_it(tmp_path: Path) -> None:
    environment = {**os.environ, "KERAS_BACKEND": "torch", "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "model.keras")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    plain = "{'training': False}"
    assert done.stdout.splitlines()[-1:] == [f"[{plain}, {{}}, {plain}, {{}}, {{}}]"], done.stderr[-1000:]
