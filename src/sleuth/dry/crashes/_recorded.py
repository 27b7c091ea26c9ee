"""What backward knows of an operation, by the name it has there: `AddmmBackward0` is the linear layer's."""

from __future__ import annotations

import re

from sleuth.dry.births import Birth

_OTHER_NAMES = {
    "addmm": ("linear", "addmm"),
    "t": ("linear", "t", "T"),
    "mm": ("linear", "mm", "matmul"),
    "bmm": ("bmm", "matmul"),
    "convolution": ("conv1d", "conv2d", "conv3d"),
    "nativebatchnorm": ("batch_norm",),
    "nativelayernorm": ("layer_norm",),
    "mkldnnconvolution": ("conv2d",),
    "logsoftmax": ("log_softmax", "cross_entropy"),
    "nllloss": ("nll_loss", "cross_entropy"),
    "div": ("div", "truediv", "rtruediv"),
}


def is_of(birth: Birth, node: str) -> bool:
    """Is this the operation that backward calls `ReluBackward0`?"""
    plain = re.sub(r"Backward\d*$", "", node).lower()
    name = birth.operation.strip("_")
    return name.replace("_", "").lower().removeprefix("i") == plain or name in _OTHER_NAMES.get(plain, (plain,))
