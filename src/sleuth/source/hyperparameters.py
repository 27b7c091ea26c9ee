"""Where each framework's optimisers take their numbers: position and names of the rate, momentum, betas and decay."""

from __future__ import annotations

from typing import Final

from sleuth.source.values import Value

Where = tuple[str, ...]
_RATE: Final = ("lr", "learning_rate")
_ADAM_TORCH: Final[dict[str, Where]] = {"rate": ("1", *_RATE), "betas": ("2", "betas"), "decay": ("4", "weight_decay")}
_ADAM_KERAS: Final[dict[str, Where]] = {
    "rate": ("0", *_RATE),
    "beta1": ("1", "beta_1"),
    "beta2": ("2", "beta_2"),
    "decay": ("weight_decay",),
}
_ADAM_OPTAX: Final[dict[str, Where]] = {"rate": ("0", *_RATE), "beta1": ("1", "b1"), "beta2": ("2", "b2")}
_ADAM_TF1: Final[dict[str, Where]] = {"rate": ("0", *_RATE), "beta1": ("1", "beta1"), "beta2": ("2", "beta2")}
_ONLY_RATE: Final[dict[str, Where]] = {"rate": ("0", *_RATE)}
_RATE_AND_MOMENTUM: Final[dict[str, Where]] = {"rate": ("0", *_RATE), "momentum": ("1", "momentum")}

OPTIMIZERS: Final[dict[str, dict[str, Where]]] = {
    "torch.optim.SGD": {"rate": ("1", *_RATE), "momentum": ("2", "momentum"), "decay": ("4", "weight_decay")},
    **{f"torch.optim.{name}": _ADAM_TORCH for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax")},
    "torch.optim.RMSprop": {"rate": ("1", *_RATE), "decay": ("4", "weight_decay"), "momentum": ("5", "momentum")},
    "torch.optim.Adagrad": {"rate": ("1", *_RATE), "decay": ("3", "weight_decay")},
    "torch.optim.Adadelta": {"rate": ("1", *_RATE), "decay": ("4", "weight_decay")},
    **{f"keras.optimizers.{name}": _ADAM_KERAS for name in ("Adam", "AdamW", "Nadam", "Adamax")},
    "keras.optimizers.SGD": _RATE_AND_MOMENTUM,
    "keras.optimizers.RMSprop": {"rate": ("0", *_RATE), "momentum": ("2", "momentum")},
    "keras.optimizers.Adagrad": _ONLY_RATE,
    "tensorflow.train.AdamOptimizer": _ADAM_TF1,
    "tensorflow.train.RMSPropOptimizer": {"rate": ("0", *_RATE), "momentum": ("2", "momentum")},
    "tensorflow.train.GradientDescentOptimizer": _ONLY_RATE,
    "tensorflow.train.MomentumOptimizer": _RATE_AND_MOMENTUM,
    "tensorflow.compat.v1.train.AdamOptimizer": _ADAM_TF1,
    "tensorflow.compat.v1.train.RMSPropOptimizer": {"rate": ("0", *_RATE), "momentum": ("2", "momentum")},
    "tensorflow.compat.v1.train.GradientDescentOptimizer": _ONLY_RATE,
    "tensorflow.compat.v1.train.MomentumOptimizer": _RATE_AND_MOMENTUM,
    "optax.adam": _ADAM_OPTAX,
    "optax.adamw": _ADAM_OPTAX,
    "optax.sgd": _RATE_AND_MOMENTUM,
    "optax.rmsprop": _ONLY_RATE,
}
# Their step is about as long as the rate, however large the gradient is.
ADAPTIVE: Final = ("Adam", "AdamW", "NAdam", "Nadam", "RAdam", "Adamax", "RMSprop", "AdamOptimizer", "RMSPropOptimizer")


def given(optimizer: Value, what: str) -> Value | None:
    """What an optimiser's constructor was given as its rate, momentum …"""
    where = OPTIMIZERS.get(optimizer.api, {}).get(what)
    return None if where is None else optimizer.option(*where)


def number(optimizer: Value, what: str) -> float | None:
    """The same, where it is a literal number."""
    found = given(optimizer, what)
    return None if found is None else found.number()


def is_adaptive(optimizer: Value) -> bool:
    last = optimizer.api.rpartition(".")[2]
    return last in ADAPTIVE or optimizer.api in ("optax.adam", "optax.adamw", "optax.rmsprop")
