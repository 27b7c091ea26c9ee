"""Compares every port with its model, on the backend that the environment names; writes what came out as JSON.

The argument is a folder: the ports are saved into it."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import keras
import numpy as np
import torch
from keras_ports import Shared, ports
from torch_models import models

from sleuth.compare.comparison import compare_on
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides import keras_live
from sleuth.compare.sides.keras_ import KerasSide
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Input


def compared(reference, target, batch):
    done = compare_on(reference, target, batch)
    trouble = done.troubles[0] if done.troubles else None
    return {
        "same": done.same,
        "pairs": len(done.steps),
        "parted": [step.target.name for step in done.steps if step.score.parted],
        "at": trouble and trouble.parting.node,
        "layer": trouble and trouble.step and trouble.step.target.layer,
        "why": trouble and trouble.explanation and trouble.explanation.diagnosis,
        "says": trouble and trouble.explanation and trouble.explanation.proposal.says,
    }


def graph_of(side, model, batch, source):
    reference = side.reference(batch)
    if reference is None:
        return None
    wide = reference.run(batch, torch.float64)[0]
    tensor = torch.from_numpy(batch[0])
    truth = source.double()(tensor.double().permute(0, 3, 1, 2) if tensor.ndim == 4 else tensor).detach().numpy()
    source.float()
    values = [reference.value(name) for name in reference.names]
    return {
        "error": float(np.abs(wide - truth).max() / np.abs(truth).max()),
        "found": [(value.op, value.layer) for value in values],
    }


def main():
    folder = Path(sys.argv[1])
    made = models()
    told = {"backend": keras.backend.backend(), "ports": {}, "graphs": {}}
    for name, port in ports(made):
        kind = name.split()[0]
        model, given = made[kind]
        batch = (given.numpy(),)
        port.save(folder / f"{name.replace(' ', '_')}.keras")
        told["ports"][name] = compared(TorchSide(model), KerasSide(port), batch)
        if " " not in name:
            own = (batch[0].transpose(0, 2, 3, 1).copy(),) if kind == "cnn" else batch
            told["graphs"][name] = graph_of(KerasSide(port), port, own, model)
    if told["backend"] == "torch":
        wanted = (Input("x", (None, 3, 8, 8), "float32"),)
        port = dict(ports(made))["cnn epsilon"]
        image = made["cnn"][1].numpy().transpose(0, 2, 3, 1).copy()
        told["turned"] = compared(KerasSide(port), TorchSide(made["cnn"][0], wanted), (image,))
        told["refused"] = refused(folder)
    told["shared"] = shared()
    json.dump(told, sys.stdout)


def refused(folder):
    """A file with code in it, without and with trust, one without layers, and one with a class
    of somebody's own."""
    path = folder / "lambda.keras"
    keras.Sequential([keras.Input((2,)), keras.layers.Lambda(lambda x: x * 2)]).save(path)
    broken = folder / "broken.keras"
    with zipfile.ZipFile(broken, "w") as archive:
        archive.writestr("config.json", '{"class_name": "Sequential", "module": "keras", "config": {"layers": 3}}')
        archive.writestr("metadata.json", '{"keras_version": "3.0"}')
    custom = folder / "custom.keras"
    keras.Sequential([keras.Input((2,)), type("Mine", (keras.layers.Layer,), {"call": lambda self, x: x})()]).save(
        custom
    )
    found = {}
    for name in (path, broken, custom):
        try:
            keras_live.load(name)
        except CannotCompare as problem:
            found[name.name] = str(problem)
    trusted = keras_live.LiveKerasSide(keras_live.load(path, trust=True))
    found["trusted"] = trusted.run((np.ones((1, 2), "float32"),))[0].tolist()
    return found


def shared():
    model = Shared()
    batch = (np.random.default_rng(0).normal(size=(3, 6)).astype("float32"),)
    model(batch[0])
    before = keras.Operation.__call__, keras.src.backend.numpy.matmul, vars(torch.Tensor).get("__add__")
    side = KerasSide(model)
    captured = side.capture(batch)
    some = side.capture(batch, {"once", "tanh"})
    after = keras.Operation.__call__, keras.src.backend.numpy.matmul, vars(torch.Tensor).get("__add__")
    return {
        "values": [(one.name, one.op, one.place and one.place.code) for one in captured.values],
        "some": sorted(some.arrays),
        "right": bool(np.array_equal(captured.outputs[0], side.run(batch)[0])),
        "restored": before == after and model.once.activation is keras.activations.gelu,
        "inputs": len(side.inputs),
        "weights": sorted(side.weights()),
    }


main()
