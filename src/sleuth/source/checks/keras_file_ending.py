"""A file name that Keras 3 refuses: it tells formats by their endings."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.changes.guards import is_guarded
from sleuth.source.changes.naming import is_elsewhere, stays_behind
from sleuth.source.keras import is_model
from sleuth.source.sites import Site
from sleuth.source.targets import allowed_for

CALLS = ("*.save", "*.save_weights", "keras.callbacks.ModelCheckpoint", "keras.models.save_model")
_STRICT_SINCE = (3,)
_WEIGHTS = (".weights.h5",)
_MODELS = (".keras", ".h5", ".hdf5")


def call(site: Site) -> Finding | None:
    if is_elsewhere(site.spot):
        return None
    endings = _endings(site)
    path = _path(site)
    if endings is None or path is None or str(path.value).endswith(endings):
        return None
    file = site.spot.file
    if (
        not allowed_for(file, "keras").always_has(_STRICT_SINCE)
        or stays_behind(file, "keras")
        or is_guarded(file, path)
    ):
        return None
    wanted = endings[0]
    stem = str(path.value)
    for ending in (".weights.h5", ".h5", ".hdf5", ".keras", ".ckpt", ".tf"):
        stem = stem.removesuffix(ending)
    edits = (tell.replace(file, path, repr(stem + wanted).replace("'", '"')),) if stem and '"' not in stem else ()
    return tell.found(
        "keras-file-ending",
        site,
        node=path,
        title=f"Keras 3 wants a file name that ends in {wanted} here",
        fixes=[Fix(f"end the name in {wanted}, here and where it is loaded", edits)],
    )


def _endings(site: Site) -> tuple[str, ...] | None:
    """What the name may end in; None where it is not for Keras to say."""
    if site.name == "keras.models.save_model":
        return _MODELS
    if site.name == "keras.callbacks.ModelCheckpoint":
        only = site.keywords.get("save_weights_only")
        if site.star or (only is not None and not isinstance(only.const, bool)):
            return None
        return _WEIGHTS if only is not None and only.const is True else _MODELS[:2]
    if site.receiver is None or not is_model(site.receiver) or site.given("save_format"):
        return None
    return _WEIGHTS if site.name.endswith("save_weights") else _MODELS


def _path(site: Site) -> ast.Constant | None:
    position = 1 if site.name == "keras.models.save_model" else 0
    given = [keyword.value for keyword in site.node.keywords if keyword.arg == "filepath"]
    if not given and len(site.node.args) > position:
        given = [site.node.args[position]]
    node = given[0] if given else None
    return node if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value else None
