"""What is known of a data set: whether it is for training or for a test, and what its transform does to each sample."""

from __future__ import annotations

import re
from typing import Final

from sleuth.source.sites import Trace
from sleuth.source.values import Value

_TEST: Final = re.compile(r"(?:^|[^a-z])(?:test|testing|val|valid|validation|eval|dev)(?:$|[^a-z])")
_TRAIN: Final = re.compile(r"(?:^|[^a-z])(?:train|training)(?:$|[^a-z])")
# Data sets of torchvision that take `train` as their second argument; it is True unless they are told otherwise.
_WITH_TRAIN: Final = frozenset("MNIST FashionMNIST KMNIST QMNIST CIFAR10 CIFAR100 USPS".split())
_FOLDERS: Final = frozenset({"ImageFolder", "DatasetFolder"})
_SPLIT_OPTIONS: Final = ("split", "image_set", "mode", "phase", "subset")
_RANDOM: Final = frozenset(
    "ColorJitter AutoAugment RandAugment TrivialAugmentWide AugMix ElasticTransform MixUp CutMix".split()
)
_COMPOSE: Final = ("torchvision.transforms.Compose", "torchvision.transforms.v2.Compose")


def sounds_like(words: str) -> str | None:
    """Does a name or path speak of training data or of test data? "train", "test", or None for both and neither."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", words).lower()
    test, train = bool(_TEST.search(text)), bool(_TRAIN.search(text))
    return None if test == train else "test" if test else "train"


def part_of(data: Value) -> str | None:
    """Is a data set for training or for a test, as its constructor was told? "train", "test", or None."""
    train = data.option("train", "is_train", "training")
    name = data.api.rpartition(".")[2]
    if train is None and data.kind == "dataset" and name in _WITH_TRAIN:
        train = data.option("1")
        if train is None:
            return "train"
    if train is not None:
        return "train" if train.const is True else "test" if train.const is False else None
    word = data.option(*_SPLIT_OPTIONS)
    if word is None and name in _FOLDERS:
        word = _last_of_path(data.option("root", "0"))
    return sounds_like(word.const) if word is not None and isinstance(word.const, str) else None


def _last_of_path(path: Value | None) -> Value | None:
    return path.inputs[-1] if path is not None and path.op == "api:os.path.join" and path.inputs else path


def transform_of(data: Value) -> Value | None:
    name = data.api.rpartition(".")[2]
    position = "2" if name in _WITH_TRAIN else "1" if name in _FOLDERS else "transform"
    return data.option("transform", position)


def steps_of(transform: Value) -> list[Value] | None:
    """The single steps of a transform in their order; None where not all are known."""
    if transform.api in _COMPOSE:
        given = transform.option("transforms", "0")
        if given is None or given.parts is None or not given.exact or given.op == "phi":
            return None
        found: list[Value] = []
        for part in given.parts:
            inner = steps_of(part)
            if inner is None:
                return None
            found += inner
        return found
    return [transform] if transform.api.startswith("torchvision.transforms.") and transform.op != "phi" else None


def is_random(step: Value) -> bool:
    """Does a step change the sample in a random way?"""
    name = step.api.rpartition(".")[2]
    if name not in _RANDOM and not name.startswith("Random"):
        return False
    chance = step.option("p")
    return chance is None or chance.number() != 0


def made_in_trace(trace: Trace) -> list[Value]:
    """The data sets a program makes, each once."""
    found = {id(step.site.result): step.site.result for step in trace.of("dataset")}
    return list(found.values())
