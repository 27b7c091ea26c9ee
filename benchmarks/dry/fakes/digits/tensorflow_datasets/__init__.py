"""As much of the data set library as the scripts need: a pattern for each class under noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

_COUNTS = {"train": 3200, "test": 640}


def load(name: str, split: str = "train", **_: Any) -> Any:
    patterns = np.random.default_rng(2).integers(0, 2, (10, 28, 28, 1))
    chance = np.random.default_rng(split == "train")
    labels = chance.integers(0, 10, _COUNTS[split])
    images = 150 * patterns[labels] + chance.integers(0, 100, (_COUNTS[split], 28, 28, 1))
    return tf.data.Dataset.from_tensor_slices({"image": images.astype("uint8"), "label": labels})
