"""Saves SavedModels into a folder: ports, by Keras, and a function by hand; tells which others cannot be opened."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import tensorflow as tf
from keras_ports import cnn, gpt
from torch_models import models

from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.savedmodel_live import LiveSavedModelSide


class Affine(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="b"), tf.TensorSpec([2], name="a")])
    def __call__(self, b, a):
        return tf.nn.relu(tf.matmul(b, self.w) + a), tf.reduce_sum(b)


def main():
    folder = Path(sys.argv[1])
    made = models()
    cnn(made["cnn"][0]).export(folder / "cnn", verbose=False)
    gpt(made["gpt"][0], wrong_norm="m1").export(folder / "gpt_epsilon", verbose=False)
    affine = Affine()
    tf.saved_model.save(affine, str(folder / "called"), signatures={})
    several = {name: affine.__call__.get_concrete_function() for name in ("one", "two")}
    tf.saved_model.save(affine, str(folder / "several"), signatures=several)
    (folder / "broken").mkdir()
    (folder / "broken" / "saved_model.pb").write_bytes(b"not a protocol buffer")
    json.dump({name: refusal(folder / name) for name in ("several", "broken")}, sys.stdout)


def refusal(path):
    try:
        LiveSavedModelSide(str(path))
    except CannotCompare as problem:
        return str(problem)


main()
