"""A trained model on disk: one .npz of numbers and plain text. Nothing in it is ever executed; no pickle is read.

It holds the weights, the vocabulary, what the model is, and how it guessed the posts it was made from while it had not
seen them: enough to classify a corpus and to correct shares, and no text of any post."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sleuth.study.classify.choose import Candidate, Linear
from sleuth.study.classify.evaluate import Classifier, HeldOut
from sleuth.study.classify.keywords import KeywordModel
from sleuth.study.classify.linear import LinearModel, tf_idf
from sleuth.study.classify.minilm import Embedder, MiniLMModel
from sleuth.study.classify.together import BothModel

Array = Any
Arrays = dict[str, Array]

SCHEMA = 1
_LINEARS = {"linear": ("linear",), "minilm": ("minilm",), "both": ("linear", "minilm", "joint")}


class NotAModel(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Trained:
    """A model, what its own cross-validation guessed of which posts (marks of their keys), and their strata."""

    name: str
    model: Classifier
    held_out: HeldOut
    keys: tuple[str, ...]
    strata: tuple[str, ...]
    about: dict[str, Any]


def save(path: str | Path, trained: Trained) -> None:
    """Replace the file in one go. Raises NotAModel where it cannot be written."""
    path = Path(path)
    held = trained.held_out
    arrays: Arrays = {
        "about": _packed([json.dumps({"schema": SCHEMA, "model": trained.name, **trained.about})]),
        "classes": _packed(list(held.classes)),
        "held.truth": held.truth.astype(np.int16),
        "held.guesses": held.guesses.astype(np.int16),
        "held.weights": held.weights,
        "held.keys": _packed(list(trained.keys)),
        "held.strata": _packed(list(trained.strata)),
        **_arrays(trained.name, trained.model),
    }
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(draft, "xb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise NotAModel(f"cannot write the model to {path}: {error.strerror}") from None


def load(path: str | Path, embed: Embedder | None = None) -> Trained:
    """The model in that file. Raises NotAModel."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        (about_text,) = _unpacked(arrays["about"])
        about = json.loads(about_text)
        if about.pop("schema") != SCHEMA:
            raise NotAModel(f"{path} was written by another version of Sleuth; train it again")
        name = about.pop("model")
        model = _keyword_model(arrays) if name == "keywords" else _of_linears(name, arrays, embed or Embedder())
        held = _held_out(arrays)
        keys, strata = tuple(_unpacked(arrays["held.keys"])), tuple(_unpacked(arrays["held.strata"]))
    except FileNotFoundError:
        raise NotAModel(f"there is no {path}; `sleuth study classify --train-to` makes one") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, zipfile.BadZipFile):
        raise NotAModel(f"{path} is not a model that `sleuth study classify --train-to` wrote") from None
    return Trained(name, model, held, keys, strata, about)


def key_mark(key: str) -> str:
    """By which a post is known again, without saying which it is."""
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _held_out(arrays: Arrays) -> HeldOut:
    classes = tuple(_unpacked(arrays["classes"]))
    truth, guesses = arrays["held.truth"].astype(int), arrays["held.guesses"].astype(int)
    # Of the probabilities only who won is kept; that is all that counting needs.
    return HeldOut(classes, truth, np.eye(len(classes))[guesses], arrays["held.weights"])


def _arrays(name: str, model: Any) -> Arrays:
    if name == "keywords":
        return _of_keywords(model)
    found: Arrays = {}
    for part in _LINEARS[name]:
        linear: Linear = getattr(model, f"{part}_") if name == "both" else model.linear_
        found[f"{part}.weights"] = linear.weights.astype(np.float32)
        found[f"{part}.bias"] = linear.bias
        found[f"{part}.sharpness"] = np.array(linear.sharpness)
        found[f"{part}.candidate"] = _packed([linear.candidate.kind, str(linear.candidate.freedom)])
    if name != "minilm":
        found["terms"] = _packed(model.vectorizer_.get_feature_names_out().tolist())
        found["idf"] = model.vectorizer_.idf_
    return found


def _of_keywords(model: KeywordModel) -> Arrays:
    words = sorted({word for theta in model.theta_.values() for word in theta})
    labels = [str(label) for label in model.classes_]
    return {
        "words": _packed(words),
        "theta": np.array([[model.theta_[label].get(word, 0.0) for word in words] for label in labels]),
        "picked": np.array([[word in model.picked_[label] for word in words] for label in labels]),
        "alpha": np.array(model.alpha_),
        "prior": model.prior_,
    }


def _keyword_model(arrays: Arrays) -> KeywordModel:
    model = KeywordModel(float(arrays["alpha"]))
    words, labels = _unpacked(arrays["words"]), _unpacked(arrays["classes"])
    model.classes_, model.alpha_, model.prior_ = np.array(labels), float(arrays["alpha"]), arrays["prior"]
    rows = zip(labels, arrays["theta"], strict=True)
    model.theta_ = {label: {words[i]: float(row[i]) for i in np.flatnonzero(row)} for label, row in rows}
    marks = zip(labels, arrays["picked"], strict=True)
    model.picked_ = {label: frozenset(words[i] for i in np.flatnonzero(row)) for label, row in marks}
    return model


def _of_linears(name: str, arrays: Arrays, embed: Embedder) -> Classifier:
    model: Any = {"linear": LinearModel, "minilm": MiniLMModel, "both": BothModel}[name]()
    for part in _LINEARS[name]:
        setattr(model, f"{part}_" if name == "both" else "linear_", _linear(part, arrays))
    if name != "linear":
        model.embed = embed
    if name != "minilm":
        model.vectorizer_ = _vectorizer(_unpacked(arrays["terms"]), arrays["idf"])
    model.classes_ = model.linear_.classes
    return model  # type: ignore[no-any-return]


def _linear(part: str, arrays: Arrays) -> Linear:
    kind, freedom = _unpacked(arrays[f"{part}.candidate"])
    return Linear(
        classes=np.array(_unpacked(arrays["classes"])),
        weights=arrays[f"{part}.weights"],
        bias=arrays[f"{part}.bias"],
        sharpness=float(arrays[f"{part}.sharpness"]),
        candidate=Candidate("svm" if kind == "svm" else "lr", float(freedom)),
    )


def _vectorizer(terms: list[str], idf: Array) -> Any:
    vectorizer = tf_idf(len(terms))
    vectorizer.vocabulary = {term: number for number, term in enumerate(terms)}
    vectorizer.idf_ = idf
    return vectorizer


def _packed(texts: list[str]) -> Array:
    """Texts as bytes: an array of texts would take the width of the longest for each."""
    return np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)


def _unpacked(array: Array) -> list[str]:
    return [str(text) for text in json.loads(array.tobytes())]
