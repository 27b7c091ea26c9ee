"""The words of a text in the one form that question and handbook have in common."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*|\b\d+d\b|\b0\b(?![.\d])")
_PLAIN = re.compile(r"[^\W\d_]{3,}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# They say nothing about what is wrong.
_EMPTY = frozenset(
    """a about after again also am an and another any are as at be because been before being between both but by can
    cannot code com could def did didn do does doesn doing don during else even ever example false few file
    following for from further get gets getting give given gives go goes going got had has have having he help here
    hi how however html http https i if implement implementation import in instead into is isn it its itself jax jnp
    just keep keras know let like line ll look lot made make makes making many may me might mine more most much must
    my myself need needs new next nn no none nor not nothing now np numpy of off often on once or org other our out
    over own people place please possible print problem program put py python pytorch question rather re really
    return right run running runs said say says see seems seen self set several she should so some someone something
    still such sure take taken takes tensorflow tf than thank thanks that the their them then there these they thing
    things this those through time to too torch tried true try trying two until upon us use used user uses using
    usually ve very want wants was way we well were what when where whether which while who whole why will with
    within without won word words work working works would wrong www yet you your""".split()
)
# One word for what has several names.
_SAME = {
    "acc": "accuracy",
    "avg": "mean",
    "average": "mean",
    "bce": "binary_cross_entropy",
    "bn": "batchnorm",
    "card": "gpu",
    "constant": "same",
    "crossentropy": "cross_entropy",
    "cuda": "gpu",
    "decreas": "fall",
    "dataloader": "loader",
    "ddp": "distributed",
    "diverg": "explode",
    "explosion": "explode",
    "drop": "fall",
    "epsilon": "eps",
    "error": "error",
    "fp16": "half",
    "float16": "half",
    "freez": "frozen",
    "freeze": "frozen",
    "grad": "gradient",
    "improv": "learn",
    "inf": "nan",
    "infinite": "nan",
    "infinity": "nan",
    "infinit": "nan",
    "lr": "learning_rate",
    "net": "model",
    "network": "model",
    "oom": "out_of_memory",
    "picture": "image",
    "prob": "probability",
    "probabilit": "probability",
    "proces": "process",
    "sample": "sample",
    "slow": "slow",
    "slower": "slow",
    "val": "validation",
    "valid": "validation",
}
# Two words that mean something together.
_PAIRS = {
    ("learning", "rate"): "learning_rate",
    ("learn", "rate"): "learning_rate",
    ("cross", "entropy"): "cross_entropy",
    ("zero", "gradient"): "zero_grad",
    ("batch", "norm"): "batchnorm",
    ("batch", "normalization"): "batchnorm",
    ("data", "loader"): "loader",
    ("weight", "decay"): "weight_decay",
    ("half", "precision"): "half",
    ("mixed", "precision"): "half",
}
_ENDINGS = (("isation", "ization"), ("ising", "iz"), ("ised", "iz"), ("iser", "izer"), ("ise", "iz"), ("ize", "iz"))
_SUFFIXES = ("ings", "ing", "edly", "ed", "ies", "es", "s", "ly")
_SHORTEST_STEM = 4


def words(text: str) -> list[str]:
    """The telling words of a text, in their order and with their repetitions."""
    return [word for word, _ in _spoken(text)]


def content(text: str) -> list[str]:
    """The telling words as they are written, in lower case."""
    return [word for word in _PLAIN.findall(text.lower()) if word not in _EMPTY]


def spelled(text: str) -> dict[str, str]:
    """How the text spells each of its telling words, at first."""
    found: dict[str, str] = {}
    for word, spelling in _spoken(text):
        found.setdefault(word, spelling)
    return found


def _spoken(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for match in _WORD.finditer(text):
        for part in _HUMP.sub(" ", match[0].replace("_", " ")).split():
            lower = part.lower()
            if lower in _EMPTY or (len(part) == 1 and part != "0"):
                continue
            word = stem(lower)
            pair = _PAIRS.get((found[-1][0], word)) if found else None
            if pair is not None:
                found[-1] = (pair, f"{found[-1][1]} {part}")
            else:
                found.append((word, part))
    return found


def stem(word: str) -> str:
    """`normalised`, `normalizing` and `normalizes` are one word."""
    if word in _SAME:
        return _SAME[word]
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and not word.endswith("ss") and len(word) - len(suffix) >= _SHORTEST_STEM - 1:
            word = word[: -len(suffix)] + ("y" if suffix == "ies" else "")
            break
    if word.endswith("e") and len(word) > _SHORTEST_STEM:
        word = word[:-1]
    return _SAME.get(word, word)
