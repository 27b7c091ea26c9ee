"""TensorStore, with which Orbax writes checkpoints: local files that it opens are led to the layer they lie in."""

from __future__ import annotations

import sys
from typing import Any

from sleuth.dry.safe.changes import Changes
from sleuth.frameworks.after_import import AfterImport
from sleuth.frameworks.patches import Patches

_MODULE = "tensorstore"


def install(patches: Patches, changes: Changes, imports: AfterImport) -> None:
    imports.of(_MODULE, lambda: _redirect(patches, changes))


def _redirect(patches: Patches, changes: Changes) -> None:
    store: Any = sys.modules[_MODULE]
    _lead(patches, store, store.Spec, changes)
    _lead(patches, store.KvStore, store.KvStore.Spec, changes)


def _lead(patches: Patches, owner: Any, spec: Any, changes: Changes) -> None:
    """`open` of this owner takes a spec: as such, as JSON, or as a URL."""
    plain = owner.open

    def open(given: Any, *args: Any, **options: Any) -> Any:
        wanted = (given if isinstance(given, spec) else spec(given)).to_json()
        led = _led(wanted, changes)
        return plain(given if led == wanted else spec(led), *args, **options)

    patches.set(owner, "open", staticmethod(open) if isinstance(owner, type) else open)


def _led(one: Any, changes: Changes) -> Any:
    """The spec with each path of a local file as it lies."""
    if isinstance(one, list):
        return [_led(part, changes) for part in one]
    if not isinstance(one, dict):
        return one
    led = {name: _led(part, changes) for name, part in one.items()}
    if one.get("driver") == "file" and isinstance(one.get("path"), str):
        led["path"] = _lies(one["path"], changes)
    return led


def _lies(path: str, changes: Changes) -> str:
    """What is there is read there; all that is new is written to the upper layer."""
    place = changes.layers.place(path.rstrip("/"))
    if place is None:
        return path
    end = "/" if path.endswith("/") else ""
    if changes.layers.kind(place):
        return changes.layers.where(place) + end
    changes.lift_nearest(place)
    changes.tell("write", place)
    return changes.layers.above(place) + end
