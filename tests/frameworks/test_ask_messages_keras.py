"""The signatures of Keras know the messages that the installed Keras gives, on torch."""

from __future__ import annotations

import pytest
from other_process import errors_of, names_in
from recognising import errors_in

# One process imports Keras once, makes every error happen and prints what Python would.
PROGRAM = r"""
import json, os, tempfile
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from keras import layers

X = np.ones((8, 4), "float32")
FOLDER = tempfile.mkdtemp()


def model(outputs=1, activation=None):
    return keras.Sequential([keras.Input((4,)), layers.Dense(outputs, activation=activation)])


def fit(net, y, loss, x=X):
    net.compile(optimizer="sgd", loss=loss)
    net.fit(x, y, verbose=0)


def other_weights():
    path = FOLDER + "/a.weights.h5"
    model().save_weights(path)
    model(2).load_weights(path)


def foreign_variable():
    optimizer = keras.optimizers.SGD()
    optimizer.build([])
    optimizer.apply([np.ones(1)], [keras.Variable(np.ones(1))])


def old_key():
    net = model()
    net.compile("sgd", "mse", metrics=["accuracy"])
    net.fit(X, np.ones(8), verbose=0).history["acc"]


CUSTOM = {"module": None, "class_name": "Mine", "config": {}, "registered_name": "Mine", "build_config": None}
RAISED = {
    "layer-input-axis": lambda: model()(np.ones((2, 5), "float32")),
    "layer-input-dimensions": lambda: layers.Conv2D(3, 3)(np.ones((2, 5), "float32")),
    "sparse-target-shape": lambda: fit(model(3, "softmax"), np.ones((8, 3)), "sparse_categorical_crossentropy"),
    "target-output-shape": lambda: fit(model(3, "softmax"), np.ones(8), "categorical_crossentropy"),
    "not-compiled": lambda: model().fit(X, np.ones(8)),
    "cardinality": lambda: fit(model(), np.ones(7), "mse"),
    "unknown-identifier": lambda: fit(model(), np.ones(8), "no_loss"),
    "keras-file-ending": lambda: model().save(FOLDER + "/model"),
    "keras-file-missing": lambda: keras.models.load_model(FOLDER + "/nothing.keras"),
    "keras-file-format": lambda: keras.models.load_model(FOLDER),
    "custom-object": lambda: keras.models.model_from_json(json.dumps(CUSTOM)),
    "keras-weights-shape": other_weights,
    "keras-weights-count": lambda: model().layers[0].set_weights([np.ones((4, 1))]),
    "concatenate-shapes": lambda: layers.Concatenate()([np.ones((2, 3)), np.ones((3, 3))]),
    "reshape-total": lambda: layers.Reshape((5,))(np.ones((2, 4))),
    "graph-disconnected": lambda: keras.Model(keras.Input((3,)), layers.Dense(1)(keras.Input((3,)))),
    "keras-tensor-numpy": lambda: np.exp(keras.Input((3,))),
    "keras-tensor-boolean": lambda: 1 if keras.Input((3,)) else 0,
    "not-built": lambda: keras.Sequential([layers.Dense(1)]).count_params(),
    "keras-old-argument": lambda: keras.optimizers.Adam(lr=0.1),
    "computed-output-size": lambda: layers.Conv2D(1, 5)(keras.Input((3, 3, 1))),
    "keras-removed-method": lambda: model().fit_generator,
    "keras-data-type": lambda: fit(model(), [1] * 8, "mse", [[1, 2, 3, 4]] * 8),
    "layer-name-taken": lambda: keras.Sequential([layers.Dense(1, name="a"), layers.Dense(1, name="a")]),
    "optimizer-other-variables": foreign_variable,
    "no-call-method": lambda: keras.Model()(X),
    "history-key": old_key,
    "keras-moved": lambda: __import__("keras.preprocessing.text"),
    "import-name": lambda: exec("from keras.utils import np_utils"),
    "keras-has-no-attribute": lambda: keras.no_such_name,
}
"""
NAMES = names_in(PROGRAM)


@pytest.fixture(scope="session")
def said() -> dict[str, str]:
    return errors_of(PROGRAM, TERM="dumb")


@pytest.mark.parametrize("name", NAMES)
def test_the_message_is_known_by_its_signature(said: dict[str, str], name: str) -> None:
    from sleuth.triage import ask

    known = [match.signature.name for match in errors_in(said[name])]
    assert known[:1] == [name]
    answer = ask(said[name])
    assert answer.signature is not None
    assert "…" not in answer.signature.why


def test_the_table_is_read_whole() -> None:
    assert len(NAMES) == 30
