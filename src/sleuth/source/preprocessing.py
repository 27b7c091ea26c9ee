"""Steps of scikit-learn that learn numbers from data: which values are such steps, and what data they saw."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.source.datasets import sounds_like
from sleuth.source.values import SAME_NUMBERS, Value

_TRANSFORMERS: Final = (
    "sklearn.preprocessing.",
    "sklearn.decomposition.",
    "sklearn.impute.",
    "sklearn.feature_selection.",
    "sklearn.feature_extraction.text.",
)
# They learn only which values there are, so that there is little to leak.
_ONLY_NAMES: Final = frozenset(
    "LabelEncoder LabelBinarizer MultiLabelBinarizer OneHotEncoder OrdinalEncoder CountVectorizer HashingVectorizer "
    "FunctionTransformer PolynomialFeatures Normalizer Binarizer".split()
)
_SPLIT: Final = "api:sklearn.model_selection.train_test_split"
_FITTED: Final = ("call:fit_transform", "call:transform")
_DEEPEST: Final = 12


def is_transformer(value: Value) -> bool:
    return (
        value.op.startswith("api:")
        and value.api.startswith(_TRANSFORMERS)
        and value.api.rpartition(".")[2][:1].isupper()
    )


def part_of(value: Value, node: ast.expr | None) -> str | None:
    """Is it training or test data: by the split it came from, else by its name?"""
    origin = value
    for _ in range(_DEEPEST):
        if origin.op.startswith("item:") and origin.inputs and origin.inputs[0].op == _SPLIT:
            return "test" if int(origin.op[5:]) % 2 else "train"
        if origin.op not in SAME_NUMBERS or not origin.inputs:
            break
        origin = origin.inputs[0]
    return sounds_like(node.id) if isinstance(node, ast.Name) else None


def fitted_on_itself(value: Value) -> Value | None:
    """The fit_transform that gave this value, if numbers of the data themselves went into it."""
    for _ in range(_DEEPEST):
        if value.op in _FITTED and value.inputs and is_transformer(value.inputs[0]):
            name = value.inputs[0].api.rpartition(".")[2]
            return value if value.op == "call:fit_transform" and name not in _ONLY_NAMES else None
        # A data frame made of it again holds the same numbers.
        wrapped = value.op in ("api:pandas.DataFrame", "tensor", "as_tensor", "from_numpy")
        if (value.op not in SAME_NUMBERS and not wrapped) or not value.inputs:
            return None
        value = value.inputs[0]
    return None
