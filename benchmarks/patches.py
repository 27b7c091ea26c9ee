"""Every function and class that Sleuth replaces while it rehearses or watches: can it be told from its original?

Name, text, home and signature must be the original's, `__wrapped__` must lead back to it, and it must really take
whatever arguments the original takes. Prints what does not hold, ends with 1; `--write` renews results/patches.md."""

from __future__ import annotations

import argparse
import gc
import importlib.util
import inspect
import sys
import tempfile
import warnings
from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path
from typing import Any

import torch

import sleuth
from sleuth.dry.journal import Journal
from sleuth.dry.safe import guard
from sleuth.dry.scenario import Scenario
from sleuth.dry.stage import Stage, set_up
from sleuth.frameworks.patches import Patches, known_as

RESULT = Path(__file__).parent / "results" / "patches.md"
# Libraries that are patched when the program imports them.
LIBRARIES = (
    "torch.distributed.fsdp",
    "torch.onnx",
    "transformers.trainer",
    "lightning.pytorch.trainer.trainer",
    "pytorch_lightning.trainer.trainer",
    "keras",
    "jax",
    "optax",
    "datasets",
    "pyarrow.parquet",
    "h5py",
    "safetensors",
    "tokenizers",
    "multiprocess.pool",
    "tensorflow",
)
_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)

Row = tuple[str, str, str, list[str]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the table")
    parser.add_argument("--bare", action="store_true", help="torch alone, none of the libraries around it")
    options = parser.parse_args()
    if not options.bare:
        _import(LIBRARIES)
    rows = [*rehearsing(), *watching()]
    if options.write:
        RESULT.write_text(_table(rows), encoding="utf-8")
    wrong = [row for row in rows if row[3]]
    for engine, place, _, differences in wrong:
        print(f"{engine}: {place}: {'; '.join(differences)}")
    print(f"{len(rows)} patches, {len(wrong)} of them can be told from what they stand for")
    return 1 if wrong else 0


def _import(names: tuple[str, ...]) -> None:
    for name in names:
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(name)


def rehearsing() -> list[Row]:
    """What `sleuth dry` replaces: with real numbers, and with fake ones."""
    rows: dict[str, Row] = {}
    for numbers in ("real", "fake"):
        with tempfile.TemporaryDirectory() as folder:
            journal = Journal(Path(folder) / "journal")
            stage = Stage(Scenario("program", numbers=numbers, ranks=2), journal, Path(folder))
            with set_up(stage):
                guard.install(stage)
                rows.update({row[1]: row for row in _rows("dry", stage.patches)})
            journal.close()
    return list(rows.values())


def watching() -> list[Row]:
    """What `sleuth run` replaces."""
    rows: dict[str, Row] = {}
    with sleuth.watch(keep_going=True):
        layer = torch.nn.Linear(1, 1)
        torch.optim.SGD(layer.parameters(), 0.1)
        for patches in [one for one in gc.get_objects() if type(one) is Patches]:
            rows.update({row[1]: row for row in _rows("run", patches)})
    return list(rows.values())


def _rows(engine: str, patches: Patches) -> Iterator[Row]:
    seen: set[int] = set()
    for owner, name, old, new in patches.replaced():
        original, replacement = _function(old), _function(new)
        # A function that a library has imported by its name is replaced there, too: once is enough.
        if callable(original) and not isinstance(original, Patches) and id(replacement) not in seen:
            seen.add(id(replacement))
            home = getattr(owner, "__qualname__", None)
            place = f"{owner.__module__}.{home}.{name}" if home else f"{getattr(owner, '__name__', owner)}.{name}"
            yield engine, place, _told(_signature(original)), differences(original, replacement)


def _function(kept: Any) -> Any:
    return kept.__func__ if isinstance(kept, (staticmethod, classmethod)) else kept


def differences(original: Any, replacement: Any) -> list[str]:
    """What tells the one from the other; nothing where the replacement is as it should be."""
    found = [name for name in ("__name__", "__doc__") if getattr(original, name) != getattr(replacement, name)]
    found += ["home"] if (replacement.__module__, replacement.__qualname__) != known_as(original) else []
    found += ["__wrapped__"] if getattr(replacement, "__wrapped__", None) is not original else []
    if _signature(original) != _signature(replacement):
        return [*found, "signature"]
    own = _signature(replacement, follow_wrapped=False)
    takes = _signature(original)
    if takes is None or own is None or isinstance(replacement, type):
        return found
    return [*found, *(f"does not take {one}" for one in _refused(takes, own))]


def _signature(function: Any, follow_wrapped: bool = True) -> inspect.Signature | None:
    try:
        return inspect.signature(function, follow_wrapped=follow_wrapped)
    except (ValueError, TypeError):  # written in C, and says nothing
        return None


def _told(signature: inspect.Signature | None) -> str:
    return "not told by Python" if signature is None else f"({', '.join(map(_named, signature.parameters.values()))})"


def _named(parameter: Parameter) -> str:
    mark = "*" if parameter.kind is Parameter.VAR_POSITIONAL else ""
    mark = "**" if parameter.kind is Parameter.VAR_KEYWORD else mark
    return mark + parameter.name + ("" if mark or parameter.default is Parameter.empty else "=…")


def _refused(promised: inspect.Signature, own: inspect.Signature) -> Iterator[str]:
    """Arguments that the signature promises to take, and the function does not."""
    have, want = list(own.parameters.values()), list(promised.parameters.values())
    kinds = {parameter.kind for parameter in have}
    places = len([one for one in have if one.kind in _BY_POSITION])
    names = {one.name for one in have if one.kind in _BY_NAME}
    for number, one in enumerate(one for one in want if one.kind in _BY_POSITION):
        if number >= places and Parameter.VAR_POSITIONAL not in kinds:
            yield f"{one.name} by its position"
    for one in want:
        if one.kind in _BY_NAME and one.name not in {"self", *names} and Parameter.VAR_KEYWORD not in kinds:
            yield f"{one.name} by its name"
        if one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) and one.kind not in kinds:
            yield _named(one)


def _table(rows: list[Row]) -> str:
    kept = sum(not row[3] for row in rows)
    silent = sum(row[2] == "not told by Python" for row in rows)
    lines = [
        "# Every patch, and that its signature is kept",
        "",
        f"torch {torch.__version__}, Python {sys.version.split()[0]}. Of {len(rows)} patches {kept} have the name,"
        " text, home, `__wrapped__` and signature of what they stand for and take whatever it takes; of"
        f" {silent} of these the original is written in C and has no signature.",
        "",
        "| engine | what is replaced | its parameters | kept |",
        "|---|---|---|---|",
    ]
    for engine, place, signature, wrong in sorted(rows):
        shown = signature.replace("|", "\\|")
        lines.append(f"| {engine} | `{place}` | `{shown}` | {'; '.join(wrong) or 'yes'} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
