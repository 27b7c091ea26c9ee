"""How labels are written: as class numbers or as one-hot rows, told by what made them."""

from __future__ import annotations

from typing import Final, Literal

from sleuth.source import batches
from sleuth.source.values import SAME_NUMBERS, Value, ancestors, origins

Encoding = Literal["one-hot", "numbers"]

# Rows of the identity matrix, `np.eye(10)[labels]`, are one-hot too.
_ONE_HOT: Final = frozenset({"one_hot", "eye", "api:keras.utils.to_categorical", "api:pandas.get_dummies"})
_NUMBERS: Final = frozenset({"argmax", "randint", "api:pandas.factorize"})
_ENCODERS: Final[dict[str, Encoding]] = {
    "sklearn.preprocessing.LabelEncoder": "numbers",
    "sklearn.preprocessing.OneHotEncoder": "one-hot",
}
# Data sets whose labels are class numbers. The housing sets of Keras hold prices.
_KERAS_SETS: Final = frozenset(
    f"api:keras.datasets.{name}.load_data"
    for name in ("mnist", "fashion_mnist", "cifar10", "cifar100", "reuters", "imdb")
)
_HOUSING_SETS: Final = frozenset(
    {"api:keras.datasets.boston_housing.load_data", "api:keras.datasets.california_housing.load_data"}
)
_TORCHVISION_SETS: Final = frozenset(
    f"torchvision.datasets.{name}"
    for name in (
        "MNIST FashionMNIST KMNIST QMNIST EMNIST CIFAR10 CIFAR100 SVHN STL10 ImageFolder ImageNet USPS Food101".split()
    )
)
_TRANSFORMS: Final = ("call:fit_transform", "call:transform")
_LOOKED_THROUGH: Final = SAME_NUMBERS | {"long", "tensor", "attr:values", "call:to_numpy"}


def encoding(value: Value) -> Encoding | None:
    """How surely, on every branch, these labels are written."""
    found: set[Encoding | None] = {_of(one) for one in origins(value, _LOOKED_THROUGH)}
    return found.pop() if len(found) == 1 else None


def is_price(value: Value) -> bool:
    """Is it computed from a data set whose labels are quantities?"""
    return any(one.op in _HOUSING_SETS for one in ancestors(value))


def _of(value: Value) -> Encoding | None:
    op = value.op
    if op in _ONE_HOT:
        return "one-hot"
    if op in _NUMBERS:
        return "numbers"
    if op in _TRANSFORMS and value.inputs:
        return _ENCODERS.get(value.inputs[0].api)
    if op == "batch":
        return _of_batch(value)
    if op.startswith("item:") and value.inputs:
        return _item(value, int(op[5:]))
    return None


def _item(value: Value, index: int) -> Encoding | None:
    """One of several things a call gave: `(x, y), _ = load_data()`, `train_test_split(x, y)`."""
    whole = value.inputs[0]
    if whole.op == "api:sklearn.model_selection.train_test_split" and index // 2 < len(whole.inputs):
        return encoding(whole.inputs[index // 2])
    if whole.op.startswith("item:") and index == 1 and whole.inputs and whole.inputs[0].op in _KERAS_SETS:
        return "numbers"
    return None


def _of_batch(value: Value) -> Encoding | None:
    dealt = batches.dataset_and_position(value)
    if dealt is None:
        return None
    dataset, position = dealt
    if dataset.api == "torch.utils.data.TensorDataset":
        stored = dataset.option(str(position))
        return None if stored is None else encoding(stored)
    return "numbers" if _dealt_by_torchvision(dataset, position) else None


def _dealt_by_torchvision(dataset: Value, position: int) -> bool:
    """The second of each pair that a loader over a torchvision data set deals."""
    return position == 1 and dataset.api in _TORCHVISION_SETS and dataset.option("target_transform") is None
