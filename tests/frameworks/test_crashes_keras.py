"""Crashes of Keras programs under `sleuth run`."""

from __future__ import annotations

from collections.abc import Callable

FRAMEWORK = ("keras",)
SETTINGS = {"KERAS_BACKEND": "torch"}


def test_an_input_that_a_layer_refuses_is_told_by_its_name(run: Callable) -> None:
    source = (
        "import numpy\n"
        "import keras\n"
        "model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3, activation='softmax')])\n"
        "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy')\n"
        "x, y = numpy.ones((8, 9), 'float32'), numpy.arange(8) % 3\n"
        "model.fit(x, y, verbose=0)\n"
    )
    ran = run(source)
    assert (ran.status, ran.named) == (1, [("linear-size-mismatch", 6)])
    assert {"name": "x", "value": "(8, 9) float32"} in ran.findings[0]["evidence"]
    assert "dense" in ran.findings[0]["chain"][-1]["what"]
