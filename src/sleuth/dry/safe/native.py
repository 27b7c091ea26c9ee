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

from sleuth.dry.safe import arrow_files, databases, tensorflow_files, tensorstore_files
from sleuth.dry.safe.changes import Changes
from sleuth.dry.safe.everywhere import Stand, replace
from sleuth.frameworks.after_import import AfterImport
from sleuth.frameworks.patches import Patches

# Read; write anew; update what is there; write into a folder; make that folder first; update a folder and all in it, or
# only read; as the mode, or the flags of a dbm, that are given next say; open a database; read or write files whose
# names begin so.
Use = Literal[
    "read",
    "write",
    "update",
    "folder",
    "new folder",
    "whole",
    "mode",
    "flags",
    "database",
    "read prefix",
    "write prefix",
]


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
    Native("sqlite3", "connect", 0, "database", "database"),
    Native("duckdb", "connect", 0, "database", "database"),
    Native("h5py", "File.__init__", 1, "name", "mode"),
    Native("h5py", "is_hdf5", 0, "fname", "read"),
    Native("cv2", "imread", 0, "filename", "read"),
    Native("cv2", "imwrite", 0, "filename", "write"),
    Native("cv2", "VideoCapture", 0, "filename", "read"),
    Native("cv2", "VideoWriter", 0, "filename", "write"),
    Native("pyarrow", "memory_map", 0, "path", "mode"),
    Native("pyarrow", "OSFile", 0, "path", "mode"),
    Native("pyarrow", "input_stream", 0, "source", "read"),
    Native("pyarrow", "output_stream", 0, "source", "write"),
    Native("pyarrow.ipc", "open_file", 0, "source", "read"),
    Native("pyarrow.ipc", "open_stream", 0, "source", "read"),
    Native("pyarrow.ipc", "new_file", 0, "sink", "write"),
    Native("pyarrow.ipc", "new_stream", 0, "sink", "write"),
    Native("pyarrow.csv", "read_csv", 0, "input_file", "read"),
    Native("pyarrow.csv", "open_csv", 0, "input_file", "read"),
    Native("pyarrow.csv", "write_csv", 1, "output_file", "write"),
    Native("pyarrow.csv", "CSVWriter", 0, "sink", "write"),
    Native("pyarrow.json", "read_json", 0, "input_file", "read"),
    Native("pyarrow.feather", "read_table", 0, "source", "read"),
    Native("pyarrow.feather", "write_feather", 1, "dest", "write"),
    Native("lmdb", "open", 0, "path", "whole"),
    Native("soundfile", "read", 0, "file", "read"),
    Native("soundfile", "write", 0, "file", "write"),
    Native("_gdbm", "open", 0, "filename", "flags"),
    Native("tensorflow.python.lib.io.tf_record", "TFRecordWriter.__init__", 1, "path", "write"),
    Native("tensorflow.python.lib.io._pywrap_record_io", "RecordIterator", 0, "filename", "read"),
    Native("tensorflow.python.ops.gen_summary_ops", "create_summary_file_writer", 1, "logdir", "new folder"),
    Native("tensorflow.python.ops.gen_io_ops", "read_file", 0, "filename", "read"),
    Native("tensorflow.python.ops.gen_io_ops", "write_file", 0, "filename", "write"),
    Native("tensorflow.python.data.ops.readers", "TextLineDatasetV2.__init__", 1, "filenames", "read"),
    Native("tensorflow.python.data.ops.readers", "TFRecordDatasetV2.__init__", 1, "filenames", "read"),
    Native("tensorflow.python.data.ops.readers", "FixedLengthRecordDatasetV2.__init__", 1, "filenames", "read"),
    Native("tensorflow.python.checkpoint.functional_saver", "MultiDeviceSaver.save", 1, "file_prefix", "write prefix"),
    Native(
        "tensorflow.python.checkpoint.functional_saver", "MultiDeviceSaver.restore", 1, "file_prefix", "read prefix"
    ),
    Native("tensorflow.python.saved_model.pywrap_saved_model", "Save", 0, "export_dir", "new folder"),
    *(
        Native("tensorflow.python.saved_model.pywrap_saved_model", f"fingerprinting.{name}", 0, "export_dir", "read")
        for name in ("CreateFingerprintDef", "ReadSavedModelFingerprint", "SingleprintFromFP", "SingleprintFromSM")
    ),
    Native("tensorflow.python.training.py_checkpoint_reader", "NewCheckpointReader", 0, "filepattern", "read prefix"),
)


# TensorBoard would import TensorFlow where that is installed, only to write its files; with this, it does without.
_WITHOUT_TENSORFLOW = "tensorboard.compat.notf"


def install(patches: Patches, changes: Changes, imports: AfterImport) -> None:
    if _WITHOUT_TENSORFLOW not in sys.modules:
        sys.modules[_WITHOUT_TENSORFLOW] = ModuleType(_WITHOUT_TENSORFLOW)
        patches.later(lambda: sys.modules.pop(_WITHOUT_TENSORFLOW, None))
        # A program that uses TensorFlow itself needs the part of TensorBoard that TensorFlow is made with.
        imports.of("tensorflow", lambda: sys.modules.pop(_WITHOUT_TENSORFLOW, None))
    for module in dict.fromkeys(native.module for native in _NATIVE):
        imports.of(module, _patching(patches, changes, module))
    tensorflow_files.install(patches, changes, imports)
    arrow_files.install(patches, changes, imports)
    tensorstore_files.install(patches, changes, imports)


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
        stand = Stand(redirected, original)
        patches.set(owner, name, stand)
        return {original: stand}
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
    if isinstance(path, list) and all(isinstance(one, (str, bytes, os.PathLike)) for one in path):
        return [_lies(one, native, args, options, changes) for one in path]
    if type(path).__name__ == "EagerTensor":  # TensorFlow's, whose functions take the text as well
        told = path.numpy()
        known = told if isinstance(told, bytes) else [*told] if getattr(told, "ndim", 0) == 1 else None
        return path if known is None else _lies(known, native, args, options, changes)
    if not isinstance(path, (str, bytes, os.PathLike)) or path in ("", ":memory:", b":memory:"):
        return path
    text = os.fsdecode(path)
    uri, text, query = _uri(text) if text.startswith("file:") else ("", text, "")
    place = changes.layers.place(text) if "://" not in text else None
    if place is None:
        return path
    if native.use == "database":
        return f"{uri}{databases.lies(place, query, _following(native, args), options, changes)}{query}"
    return f"{uri}{_layer(place, native, args, options, changes)}{query}"


def _uri(text: str) -> tuple[str, str, str]:
    path, mark, query = text.removeprefix("file:").partition("?")
    return "file:", "/" + path.lstrip("/") if path.startswith("//") else path, mark + query


def _layer(place: str, native: Native, args: list[Any], options: dict[str, Any], changes: Changes) -> str:
    mode = _mode(native, args, options) if native.use in ("mode", "flags") else native.use
    if mode == "read":
        return changes.layers.where(place)
    if mode == "read prefix":
        return _beginning(place, changes)
    if mode == "write prefix":
        return _new_beginning(place, changes)
    if mode == "new folder":
        os.makedirs(place, exist_ok=True)
    if mode in ("folder", "new folder"):
        return changes.lift(place)
    if mode == "whole":
        return _whole(place, options, changes)
    if mode == "update" and changes.layers.kind(place):
        return changes.for_update(place)
    return changes.for_writing(place, truncate=mode == "write")


def _beginning(place: str, changes: Changes) -> str:
    """Where the files lie whose names begin so."""
    folder, name = os.path.split(place)
    above = changes.layers.above(place)
    found = changes.layers.names(folder) if changes.layers.kind(folder) else []
    begun = [one for one in found if one.startswith(name)]
    return above if any(not changes.layers.is_real(f"{folder}/{one}") for one in begun) else place


def _new_beginning(place: str, changes: Changes) -> str:
    changes.lift(os.path.dirname(place))
    changes.tell("write", place)
    return changes.layers.above(place)


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
    given = next((options[name] for name in ("mode", "flags", "shared") if name in options), _following(native, args))
    if given in (None, False, "r", "rb"):
        return "read"
    anew = "n" if native.use == "flags" else "wxn"
    return "write" if isinstance(given, str) and given[0] in anew else "update"


def _following(native: Native, args: list[Any]) -> Any:
    return args[native.position + 1] if len(args) > native.position + 1 else None
