"""A Keras 3 model: one that lives in this process, or a `.keras` file in a process of its own with any backend."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import sys
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sleuth.compare.reference import Reference
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.remote import RemoteSide
from sleuth.compare.values import Array, Batch, Captured, Trained

BACKENDS = ("tensorflow", "jax", "torch")


class KerasSide(Side):
    """`backend` is for a file: "torch", "jax" or "tensorflow"; without one, the one that Keras would take here."""

    def __init__(self, model: Any, backend: str | None = None, title: str = "", trust: bool = False) -> None:
        require_keras()
        self._path = Path(model) if isinstance(model, str | os.PathLike) else None
        self._trust = trust
        self._graph: Side | None = None
        if self._path is None:
            from sleuth.compare.sides.keras_live import LiveKerasSide

            self._inner: Side = LiveKerasSide(model, title)
        else:
            check_file(self._path)
            chosen = _chosen_backend(backend)
            self._inner = RemoteSide("keras", self._path, title=title or str(model), trust=trust, backend=chosen)
        self.title, self.runtime = self._inner.title, self._inner.runtime
        self.precision, self.inputs = self._inner.precision, self._inner.inputs

    def run(self, batch: Batch) -> list[Array]:
        return self._inner.run(batch)

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        return self._inner.capture(batch, wanted)

    def reference(self, batch: Batch) -> Reference | None:
        """A file is loaded here too, on the torch backend, unless Keras already runs on another one here."""
        if self._path is None:
            return self._inner.reference(batch)
        if self._graph is None and _active_backend() in (None, "torch"):
            self._graph = _here_on_torch(self._path, self._trust, self.title)
        return None if self._graph is None else self._graph.reference(batch)

    def weights(self) -> Mapping[str, Array]:
        return self._inner.weights()

    def trained(self, batch: Batch, rate: float) -> Trained | None:
        return self._inner.trained(batch, rate)

    @property
    def size(self) -> int | None:
        return self._inner.size

    def close(self) -> None:
        self._inner.close()


def require_keras() -> None:
    try:
        version = importlib.metadata.version("keras")
    except importlib.metadata.PackageNotFoundError:
        raise CannotCompare(
            "this is a Keras model, and Keras is not installed: pip install 'sleuth-ml[keras]'"
        ) from None
    if int(version.partition(".")[0]) < 3:
        raise CannotCompare(f"Keras {version} is too old to compare, it takes Keras 3: pip install 'sleuth-ml[keras]'")


def _here_on_torch(path: Path, trust: bool, title: str) -> Side:
    """Keras asks the environment for its backend once, when it is first imported."""
    before = os.environ.get("KERAS_BACKEND")
    os.environ["KERAS_BACKEND"] = "torch"
    try:
        with _without_chatter():
            from sleuth.compare.sides import keras_live
    finally:
        os.environ.pop("KERAS_BACKEND")
        if before is not None:
            os.environ["KERAS_BACKEND"] = before
    return keras_live.LiveKerasSide(keras_live.load(path, trust), title)


@contextmanager
def _without_chatter() -> Iterator[None]:
    """Keras imports TensorFlow where it finds it, which greets on the error stream whatever is asked of it."""
    if "keras" in sys.modules:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def check_file(path: Path) -> None:
    """Before a process is started for it."""
    if not path.exists():
        raise CannotCompare(f"{path}: no such file")
    if path.suffix in (".h5", ".hdf5"):
        return
    if not zipfile.is_zipfile(path):
        raise CannotCompare(f"{path} cannot be read as a Keras model: it is not a .keras archive")
    with zipfile.ZipFile(path) as archive:
        if "config.json" not in archive.namelist():
            raise CannotCompare(f"{path} cannot be read as a Keras model: it is an archive without config.json")


def _chosen_backend(asked: str | None) -> str:
    """What was asked for, or what Keras itself would take: the environment, its settings file, what is installed."""
    if asked is not None:
        if asked not in BACKENDS:
            raise CannotCompare(f"Keras has no backend {asked!r}: it runs on {', '.join(BACKENDS)}")
        if importlib.util.find_spec(asked) is None:
            raise CannotCompare(f"the {asked} backend of Keras needs {asked}: pip install 'sleuth-ml[{asked}]'")
        return asked
    wished = [_active_backend(), os.environ.get("KERAS_BACKEND"), _in_settings_file(), *BACKENDS]
    return next(one for one in wished if one in BACKENDS and importlib.util.find_spec(one) is not None)


def _active_backend() -> str | None:
    """The backend of a Keras that is imported in this process."""
    keras = sys.modules.get("keras")
    return None if keras is None else str(keras.backend.backend())


def _in_settings_file() -> str | None:
    folder = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        return str(json.loads(Path(folder, "keras.json").read_text(encoding="utf-8")).get("backend"))
    except (OSError, ValueError, AttributeError):
        return None
