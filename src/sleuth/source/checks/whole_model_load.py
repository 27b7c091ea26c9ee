"""`torch.load` of a file into which `torch.save` put a whole model, which is refused since 2.6."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.changes.guards import is_guarded
from sleuth.source.changes.naming import is_elsewhere
from sleuth.source.scopes import ClassInfo, File
from sleuth.source.sites import Site
from sleuth.source.targets import allowed_for
from sleuth.source.values import Value

CALLS = ("torch.save",)
# Since 2.6 only tensors and plain containers are read unless weights_only=False says otherwise.
_REFUSED_SINCE = (2, 6)


def call(site: Site) -> Iterator[Finding]:
    file = site.spot.file
    if is_elsewhere(site.spot) or len(site.node.args) < 2 or not site.args or not _is_network(site.args[0]):
        return
    if not allowed_for(file, "torch").reaches(_REFUSED_SINCE):
        return
    for load in _loads(file, file.source(site.node.args[1])):
        if not is_guarded(file, load):
            edit = tell.add_argument(file, load, "weights_only=False")
            yield tell.found(
                "whole-model-load",
                site,
                node=load,
                chain=[tell.because(site.node, "a whole model was saved here, code and all", file)],
                fixes=[
                    Fix("save model.state_dict() and load that into a new model"),
                    Fix("give weights_only=False, as the file is your own", (edit,)),
                ],
            )


def _is_network(value: Value) -> bool:
    if isinstance(value.info, ClassInfo):
        return value.kind == "instance" and value.info.is_module()
    return value.kind == "module" and value.api.startswith(("torch.", "torchvision."))


def _loads(file: File, path: str) -> Iterator[ast.Call]:
    """The calls of torch.load for the same path that do not say what may be in it."""
    for node in ast.walk(file.tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and file.source(node.func) == "torch.load"
            and node.args
            and file.source(node.args[0]) == path
            and not any(keyword.arg in ("weights_only", "pickle_module", None) for keyword in node.keywords)
        ):
            yield node
