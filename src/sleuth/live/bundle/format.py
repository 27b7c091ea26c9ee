"""The file: a zip of JSON and raw numbers. Nothing in it is code, nothing in it is ever executed or unpickled.

    bundle.json       what the step was, and how the tensors belong together
    finding.json      what Sleuth found, once it is known
    tensors/000000    the bytes of one tensor, little-endian; its type and shape stand in bundle.json

Bundles come from strangers, so the reader believes nothing: every size is checked against what is really there, and a
file that holds anything else is refused."""

from __future__ import annotations

import json
import math
import os
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sleuth.findings import Finding, finding_from_json, finding_to_json
from sleuth.live.bundle import tree

SCHEMA = 1
CONTENT, FINDING, TENSORS = "bundle.json", "finding.json", "tensors/"
# Bytes of one number of each type that a bundle can hold, by torch's name for the type.
ITEM_SIZE = {
    **dict.fromkeys(("bool", "uint8", "int8", "float8_e4m3fn", "float8_e5m2"), 1),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32"), 4),
    **dict.fromkeys(("int64", "uint64", "float64", "complex64"), 8),
    "complex128": 16,
}
# A bundle's JSON holds names and some thousand numbers of random states; more than this was not written by Sleuth.
LONGEST_JSON = 64 * 1024 * 1024
_MOST_TENSORS = 1_000_000
_MOST_DIMENSIONS = 64
_CHUNK = 16 * 1024 * 1024


class NotABundle(Exception):
    """The file is refused; `str()` of it is the one line to show."""


class Numbers(Protocol):
    """A tensor on its way into the file."""

    @property
    def kind(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    def raw(self) -> memoryview: ...


def write(path: Path, content: dict[str, Any], tensors: Iterable[Numbers]) -> None:
    """Write a whole bundle. The file gets its final name from `seal`."""
    if sys.byteorder != "little":
        raise OSError("bundles are little-endian, and this machine is not")
    tensors = list(tensors)
    shapes = [{"dtype": tensor.kind, "shape": list(tensor.shape)} for tensor in tensors]
    text = json.dumps({"schema": SCHEMA, **content, "tensors": shapes}, allow_nan=False)
    if len(text) > LONGEST_JSON:
        raise OSError("its batch holds too many things that are no tensors")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(CONTENT), text)
        for index, tensor in enumerate(tensors):
            with archive.open(zipfile.ZipInfo(_member(index)), "w", force_zip64=True) as member:
                raw = tensor.raw()
                for start in range(0, len(raw), _CHUNK):
                    member.write(raw[start : start + _CHUNK])


def seal(part: Path, final: Path, finding: Finding | None) -> None:
    """Add what was found, and give the file its name: a bundle by that name is always whole."""
    if finding is not None:
        with zipfile.ZipFile(part, "a", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo(FINDING), json.dumps(finding_to_json(finding), allow_nan=False))
    os.replace(part, final)


def _member(index: int) -> str:
    return f"{TENSORS}{index:06}"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that has been read and checked. Tensors are read one by one when they are asked for."""

    path: Path
    content: dict[str, Any]
    finding: Finding | None

    def kind(self, index: int) -> tuple[str, tuple[int, ...]]:
        """The type and shape of a tensor."""
        entry = self.content["tensors"][index]
        return entry["dtype"], tuple(entry["shape"])

    def raw(self, index: int) -> bytearray:
        """The bytes of a tensor. Raises NotABundle where the file is damaged."""
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(_member(index)) as member:
                return bytearray(member.read())
        except (OSError, zipfile.BadZipFile, EOFError) as problem:
            raise NotABundle(f"{self.path} is damaged: {problem}") from None


def read(path: Path, *, whole: bool = True) -> Bundle:
    """Open a bundle and check it; `whole` reads every byte against its checksum. Raises NotABundle."""
    if not path.is_file():
        raise NotABundle(f"{path}: there is no such file" if not path.exists() else f"{path} is not a file")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive, path.stat().st_size)
            content = json.loads(archive.read(CONTENT))
            _check_content(content, archive)
            finding = finding_from_json(json.loads(archive.read(FINDING))) if _holds(archive, FINDING) else None
            damaged = archive.testzip() if whole else None
    except NotABundle as refusal:
        raise NotABundle(f"{path} is refused: {refusal}") from None
    except zipfile.BadZipFile:
        raise NotABundle(f"{path} is not a bundle, or it was cut short") from None
    except Exception as problem:
        # Whatever a hostile file makes the zip or JSON reader say, it is the file's fault.
        raise NotABundle(f"{path} is not a bundle: {type(problem).__name__}: {problem}") from None
    if damaged is not None:
        raise NotABundle(f"{path} is damaged: the checksum of {damaged} is wrong")
    return Bundle(path, content, finding)


def _need(condition: bool, otherwise: str) -> None:
    if not condition:
        raise NotABundle(otherwise)


def _holds(archive: zipfile.ZipFile, name: str) -> bool:
    return name in archive.NameToInfo


def _check_members(archive: zipfile.ZipFile, size: int) -> None:
    """Only members that Sleuth writes, each once and not compressed, so none can be larger than the file itself."""
    members = archive.infolist()
    _need(_holds(archive, CONTENT), "it holds no bundle.json, so Sleuth did not write it")
    _need(len(members) <= _MOST_TENSORS, "it holds too many members")
    _need(len({member.filename for member in members}) == len(members), "it holds a member twice")
    for member in members:
        name = member.filename
        number = name.removeprefix(TENSORS)
        known = name in (CONTENT, FINDING) or (name != number and number.isdecimal() and name == _member(int(number)))
        _need(known, f"it holds {name[:80]!r}, which no bundle of Sleuth holds")
        plain = member.compress_type == zipfile.ZIP_STORED and member.file_size == member.compress_size
        _need(plain and not member.flag_bits & 1, f"{name} is compressed or encrypted")
        _need(name.startswith(TENSORS) or member.file_size <= LONGEST_JSON, f"{name} is too long")
    _need(sum(member.file_size for member in members) <= size, "its members overlap")


def _check_content(content: Any, archive: zipfile.ZipFile) -> None:
    _need(isinstance(content, dict), "bundle.json is not an object")
    schema = content.get("schema")
    _need(type(schema) is int, "bundle.json names no schema")
    _need(schema == SCHEMA, f"it has schema {schema}; this Sleuth reads schema {SCHEMA}")
    tensors = content.get("tensors")
    _need(isinstance(tensors, list), "bundle.json lists no tensors")
    held = sum(member.filename.startswith(TENSORS) for member in archive.infolist())
    _need(held == len(tensors), f"it holds {held} tensors and describes {len(tensors)}")
    for index, entry in enumerate(tensors):
        _check_tensor(entry, index, archive)
    _check_parts(content, len(tensors))


def _check_tensor(entry: Any, index: int, archive: zipfile.ZipFile) -> None:
    _need(isinstance(entry, dict), f"tensor {index} is not described")
    kind, shape = entry.get("dtype"), entry.get("shape")
    _need(isinstance(kind, str) and kind in ITEM_SIZE, f"tensor {index} has a type no bundle holds")
    proper = isinstance(shape, list) and len(shape) <= _MOST_DIMENSIONS
    _need(proper and all(type(n) is int and 0 <= n < 2**48 for n in shape), f"tensor {index} has no proper shape")
    _need(_holds(archive, _member(index)), f"tensor {index} is not there")
    length = archive.getinfo(_member(index)).file_size
    wanted = math.prod(shape) * ITEM_SIZE[kind]
    _need(length == wanted, f"tensor {index} has {length} bytes; {kind} of shape {shape} takes {wanted}")


def _check_parts(content: dict[str, Any], tensors: int) -> None:
    """That every part is there and has the form that the rest of Sleuth relies on."""

    def is_tensor(value: Any) -> bool:
        return type(value) is int and 0 <= value < tensors

    def is_named(value: Any) -> bool:
        return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and is_tensor(value[1])

    def is_tree(value: Any) -> bool:
        return tree.is_sound(value, is_tensor)

    def fits(value: Any, form: dict[str, Any]) -> bool:
        return isinstance(value, dict) and all(name in value and test(value[name]) for name, test in form.items())

    def is_place(value: Any) -> bool:
        form = {"path": is_text, "line": is_count, "code": lambda code: code is None or is_text(code)}
        return value is None or fits(value, form)

    def each(test: Any) -> Any:
        return lambda value: isinstance(value, list) and all(test(item) for item in value)

    def of(form: dict[str, Any]) -> Any:
        return lambda value: fits(value, form)

    program = of({"name": is_text, "module": is_flag, "arguments": each(is_text), "folder": is_text})
    symptom = of(
        {
            "kind": lambda value: value in ("loss", "gradient", "scale", "crash"),
            "said": is_text,
            "error": lambda value: value is None or is_text(value),
            "optimizer": lambda value: value is None or is_count(value),
            "backward": is_place,
            "place": is_place,
            "batches": is_count,
        }
    )
    batch = of({"content": is_tree, "random": is_tree, "samples": is_tree})
    module = of({"class": is_text, "parameters": each(is_named), "buffers": each(is_named)})
    group = of({"parameters": each(is_tensor), "settings": is_tree})
    state = of({"parameter": is_tensor, "holds": is_tree})
    form = {
        "id": is_text,
        "versions": lambda value: isinstance(value, dict) and all(is_text(v) for v in value.values()),
        "program": program,
        "sources": lambda value: isinstance(value, dict) and all(is_text(v) for v in value.values()),
        "step": is_count,
        "rank": is_count,
        "ranks": is_count,
        "symptom": symptom,
        "begins": lambda value: value in ("deal", "step", "optimizer"),
        "compiled": is_flag,
        "loaders": each(of({"place": is_place, "batches": each(batch)})),
        "random": is_tree,
        "modules": each(module),
        "variables": each(is_named),
        "optimizers": each(of({"class": is_text, "groups": each(group), "state": each(state)})),
        "scalers": each(is_tree),
        "weights": is_flag,
        "missing": each(is_text),
    }
    for name, test in form.items():
        _need(name in content and test(content[name]), f"its {name} is not what Sleuth writes there")


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
