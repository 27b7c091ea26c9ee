"""Small programs that each make one error of Python or NumPy happen, by signature."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression


def _unbound() -> None:
    for number in ():
        loss = number
    print(loss)


def _undefined() -> None:
    print(no_such_name)  # type: ignore[name-defined] # noqa: F821


def _forever() -> None:
    _forever()


def _ends_early() -> None:
    def numbers() -> Iterator[int]:
        yield next(iter(()))

    list(numbers())


def _unpack(values: list[int]) -> None:
    _, _ = values


def nothing() -> Any:
    return None


def number() -> Any:
    return 3


class Model:
    def forward(self, x: Any) -> Any:
        return x


RAISED: dict[str, list[Callable[[], Any]]] = {
    "none-attribute": [lambda: nothing().backward(), lambda: nothing()[0], lambda: list(nothing())],
    "none-operand": [lambda: nothing() + 1, lambda: 2.0 * nothing()],
    "unexpected-keyword": [lambda: Model().forward(1, mask=2)],
    "wrong-argument-count": [lambda: Model().forward(), lambda: Model().forward(1, 2)],
    "not-callable": [lambda: number()(4), lambda: np.ones(2)(0)],
    "own-attribute": [lambda: Model().fc1, lambda: number().shape],
    "module-has-no-attribute": [lambda: json.read],
    "numpy-alias": [lambda: np.no_such_type],
    "numpy-broadcast": [
        lambda: np.ones((2, 3)) + np.ones((4,)),
        lambda: np.ones((1, 4)).__setitem__(slice(1), np.ones((5, 1, 4))),
    ],
    "numpy-inhomogeneous": [lambda: np.array([[1, 2], [3]], dtype=float)],
    "numpy-truth": [lambda: bool(np.ones(2))],
    "numpy-index": [lambda: np.ones(3)[5]],
    "numpy-reshape": [lambda: np.ones(6).reshape(4, 2)],
    "numpy-dimensions": [
        lambda: np.concatenate([np.ones((2, 3)), np.ones((2, 4))]),
        lambda: np.concatenate([np.ones(2), np.ones((2, 4))]),
    ],
    "generator-exhausted": [lambda: next(iter(())), _ends_early],
    "recursion": [_forever],
    "no-such-file": [lambda: np.fromfile("no/such/file.csv")],
    "key-error": [lambda: {}["loss"]],
    "history-key": [lambda: {"accuracy": 1}["acc"], lambda: {"accuracy": 1}["val_acc"]],
    "unpack": [lambda: _unpack([1, 2, 3]), lambda: _unpack([1])],
    "list-index": [lambda: [][0]],
    "local-unbound": [_unbound],
    "name-undefined": [_undefined],
    "json-serialisable": [lambda: json.dumps(np.float32(1.0))],
    "sklearn-nan": [lambda: LinearRegression().fit(np.array([[np.nan]]), [1])],
    "memory-error": [lambda: bytearray(2**62)],
    "module-missing": [lambda: __import__("no_such_package")],
    "import-name": [lambda: exec("from json import no_such_name")],
    "relative-import-in-script": [lambda: exec("from .data import Pairs", {"__name__": "__main__"})],
    "out-of-memory-cpu": [lambda: np.empty((2**23, 2**23))],
}
