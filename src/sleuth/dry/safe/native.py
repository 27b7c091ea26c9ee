"""Libraries that open files without Python: the path they are given is led to the layer where the file lies."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from sleuth.dry.after_import import AfterImport
from sleuth.dry.patches import Patches
from sleuth.dry.safe.changes import Changes
from sleuth.dry.safe.everywhere import Stand, replace

# Read; write anew; update what is there; write into a folder; update a folder and all in it, or only read; as the
# mode that is given next says.
Use = Literal["read", "write", "update", "folder", "whole", "mode"]


@dataclass(frozen=True, slots=True)
class Native:
    """A function with a path among its arguments: the how-manieth (`self` counts), or the one of that name."""

    module: str
    function: str
    position: int
    keyword: str
    use: Use


_NATIVE = (
    Native("torch", "_C.PyTorchFileWriter.__init__", 1, "file_name", "write"),
    Native("torch", "_C.PyTorchFileReader.__init__", 1, "name", "read"),
    Native("torch", "UntypedStorage.from_file", 0, "filename", "mode"),
    Native("torch", "from_file", 0, "filename", "mode"),
    Native("torch", "jit.load", 0, "f", "read"),
    Native("torch", "jit.save", 1, "f", "write"),
    Native("torch", "jit._script.RecursiveScriptModule.save", 1, "f", "write"),
    Native("torch", "autograd.profiler.profile.export_chrome_trace", 1, "path", "write"),
    Native("torchvision.io.image", "read_file", 0, "path", "read"),
    Native("torchvision.io.image", "write_file", 0, "filename", "write"),
    Native("torchaudio", "load", 0, "uri", "read"),
    Native("torchaudio", "save", 0, "uri", "write"),
    Native("safetensors", "serialize_file", 1, "filename", "write"),
    Native("safetensors", "safe_open", 0, "filename", "read"),
    Native("tokenizers", "Tokenizer.save", 1, "path", "write"),
    Native("tokenizers", "Tokenizer.from_file", 0, "path", "read"),
    Native("tokenizers", "models.Model.save", 1, "folder", "folder"),
    Native("sqlite3", "connect", 0, "database", "update"),
    Native("h5py", "File.__init__", 1, "name", "mode"),
    Native("h5py", "is_hdf5", 0, "fname", "read"),
    Native("cv2", "imread", 0, "filename", "read"),
    Native("cv2", "imwrite", 0, "filename", "write"),
    Native("cv2", "VideoCapture", 0, "filename", "read"),
    Native("cv2", "VideoWriter", 0, "filename", "write"),
    Native("pyarrow", "memory_map", 0, "path", "mode"),
    Native("pyarrow", "OSFile", 0, "path", "mode"),
    Native("pyarrow.parquet", "read_table", 0, "source", "read"),
    Native("pyarrow.parquet", "write_table", 1, "where", "write"),
    Native("lmdb", "open", 0, "path", "whole"),
    Native("soundfile", "read", 0, "file", "read"),
    Native("soundfile", "write", 0, "file", "write"),
    Native("_gdbm", "open", 0, "filename", "update"),
)


# TensorBoard writes through TensorFlow where that is installed, past all redirection; with this module, by itself.
_WITHOUT_TENSORFLOW = "tensorboard.compat.notf"


def install(patches: Patches, changes: Changes, imports: AfterImport) -> None:
    if _WITHOUT_TENSORFLOW not in sys.modules:
        sys.modules[_WITHOUT_TENSORFLOW] = ModuleType(_WITHOUT_TENSORFLOW)
        patches.later(lambda: sys.modules.pop(_WITHOUT_TENSORFLOW, None))
    for module in dict.fromkeys(native.module for native in _NATIVE):
        imports.of(module, _patching(patches, changes, module))


def _patching(patches: Patches, changes: Changes, module: str) -> Callable[[], None]:
    def patch() -> None:
        stands: dict[Any, Any] = {}
        for native in _NATIVE:
            if native.module == module:
                stands.update(_redirect(patches, changes, native))
        if stands:
            # The library's other modules know it by their own names.
            replace(patches, stands, module.partition(".")[0])

    return patch


def _redirect(patches: Patches, changes: Changes, native: Native) -> dict[Any, Any]:
    """Redirect a method; of a function, give what must stand in its place."""
    owner: Any = importlib.import_module(native.module)
    *path, name = native.function.split(".")
    for part in path:
        owner = getattr(owner, part, None)
    original = getattr(owner, name, None)
    if original is None:
        return {}
    redirected = _redirected(original, native, changes)
    if not isinstance(owner, type):
        return {original: Stand(redirected, original)}
    patches.set(owner, name, staticmethod(redirected) if _is_static(owner, name) else redirected)
    return {}


def _is_static(owner: type, name: str) -> bool:
    kept = inspect.getattr_static(owner, name)
    return isinstance(kept, (staticmethod, classmethod)) or type(kept).__name__ in (
        "builtin_function_or_method",
        "classmethod_descriptor",
    )


def _redirected(original: Callable[..., Any], native: Native, changes: Changes) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        given = list(args)
        if len(given) > native.position:
            path = given[native.position]
            given[native.position] = _lies(path, native, given, options, changes)
        elif native.keyword in options:
            path = options[native.keyword]
            options[native.keyword] = _lies(path, native, given, options, changes)
        result = original(*given, **options)
        if native.use == "folder" and isinstance(result, list):
            return [changes.layers.as_known(one) for one in result]
        return result

    return call


def _lies(path: Any, native: Native, args: list[Any], options: dict[str, Any], changes: Changes) -> Any:
    """Where to send the library instead of `path`; the same where it is no path of the file system."""
    if not isinstance(path, (str, bytes, os.PathLike)) or path in ("", ":memory:", b":memory:"):
        return path
    text = os.fsdecode(path)
    uri, text, query = _uri(text) if text.startswith("file:") else ("", text, "")
    place = changes.layers.place(text) if "://" not in text else None
    if place is None:
        return path
    return f"{uri}{_layer(place, native, args, options, changes)}{query}"


def _uri(text: str) -> tuple[str, str, str]:
    path, mark, query = text.removeprefix("file:").partition("?")
    return "file:", "/" + path.lstrip("/") if path.startswith("//") else path, mark + query


def _layer(place: str, native: Native, args: list[Any], options: dict[str, Any], changes: Changes) -> str:
    mode = _mode(native, args, options) if native.use == "mode" else native.use
    if mode == "read":
        return changes.layers.where(place)
    if mode == "folder":
        return changes.lift(place)
    if mode == "whole":
        return _whole(place, options, changes)
    return changes.for_writing(place, truncate=mode == "write")


def _whole(place: str, options: dict[str, Any], changes: Changes) -> str:
    if options.get("readonly"):
        options["lock"] = False  # which would be a file beside the data
        return changes.layers.where(place)
    if not changes.layers.kind(place):
        return changes.for_writing(place)
    changes.lift_all(place)
    changes.tell("write", place)
    return changes.layers.above(place)


def _mode(native: Native, args: list[Any], options: dict[str, Any]) -> Use:
    following = args[native.position + 1] if len(args) > native.position + 1 else None
    given = next((options[name] for name in ("mode", "flags", "shared") if name in options), following)
    if given in (None, False, "r", "rb"):
        return "read"
    return "write" if isinstance(given, str) and given[0] in "wxn" else "update"
