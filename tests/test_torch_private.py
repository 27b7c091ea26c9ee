"""Private names of torch: all in one place, and a torch without them costs features, not commands."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sleuth.frameworks import torch_private

SOURCE = Path(__file__).parents[1] / "src" / "sleuth"
# Names that torch's own documentation shows to those who extend it, kernels and classes that programs name, and what
# only one kind of model needs, where a missing name is told as that.
FREE = (
    "torch.utils._pytree",
    "torch.utils._python_dispatch.TorchDispatchMode",
    "torch._ops.OpOverload",
    "torch.ops.aten._",
    "torch.nn.Module._apply",
    "torch.nn.modules.",
    "torch._VF.",
    "torch._C.TensorType",
    "torch._C.TupleType",
    "torch._C._jit_pass_inline",
    "torch._C._create_function_from_graph",
    "torch._export.converter.TS2EPConverter",
    "torch._inductor.",
    "torch.testing._internal.distributed.fake_pg.FakeStore",
)
# A namespace alone is no name: things are set in it that may as well not have been there.
NAMESPACES = {"torch._C", "torch._C._nn", "torch._utils", "torch._VF", "torch._ops"}
DIVIDES = """
import torch
weight = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
for batch in torch.utils.data.DataLoader(torch.arange(4.0), batch_size=1):
    optimizer.zero_grad()
    loss = (weight * batch).log().sum()
    loss.backward()
    optimizer.step()
"""
MISFIT = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(2, 1)).cuda()
for batch in torch.utils.data.DataLoader(torch.randn(8, 4), batch_size=4):
    model(batch.cuda()).sum().backward()
"""
FITS = MISFIT.replace("Linear(2, 1)", "Linear(3, 1)")
# Everything is missing, whatever this torch has.
ALL_GONE = "from sleuth.frameworks import torch_private; torch_private._look_up = lambda name: torch_private._MISSING"


def of_version(version: str) -> str:
    return f"import torch; torch.__version__ = {version!r}"


def sleuth(folder: Path, world: str, command: str, program: str) -> tuple[int, str]:
    """The status and all that is said by a command in such a world."""
    (folder / "train.py").write_text(program, encoding="utf-8")
    how = ["--no-record"] if command == "run" else ["--no-corners"]
    begin = f"{world}\nimport sys; from sleuth.cli import main; sys.exit(main({[command, *how, 'train.py']!r}))"
    done = subprocess.run([sys.executable, "-c", begin], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def private_names(tree: ast.AST) -> Iterator[str]:
    """Every private name of torch that a module spells out."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "torch":
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "torch":
                    known[alias.asname or "torch"] = alias.name if alias.asname else "torch"
                    yield alias.name
    yield from known.values()
    for node in ast.walk(tree):
        parts: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if parts and isinstance(inner, ast.Name) and inner.id in known:
            yield ".".join([known[inner.id], *reversed(parts)])


def is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def test_this_torch_has_them_all() -> None:
    assert torch_private.remarks("run") + torch_private.remarks("dry") == []


def test_no_other_module_uses_one() -> None:
    strays = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in SOURCE.rglob("*.py")
        for name in private_names(ast.parse(path.read_text(encoding="utf-8")))
        if is_private(name) and name not in NAMESPACES and not name.startswith(FREE)
    }
    assert strays == set()


def test_a_name_that_is_not_listed_cannot_be_had() -> None:
    with pytest.raises(LookupError, match="not among the private names"):
        torch_private.get("torch._C._something_else")


def test_a_run_is_watched_without_any_of_them_and_says_what_is_off(tmp_path: Path) -> None:
    status, said = sleuth(tmp_path, ALL_GONE, "run", DIVIDES)
    assert status == 1
    assert "train.py:7" in said
    assert "this torch has no torch.utils.data.dataloader._BaseDataLoaderIter: what a DataLoader deals is not" in said
    assert "inside Sleuth" not in said


def test_a_rehearsal_finds_what_it_can_without_any_of_them_and_says_what_is_off(tmp_path: Path) -> None:
    status, said = sleuth(tmp_path, ALL_GONE, "dry", MISFIT)
    assert status == 1
    assert "train.py:5" in said
    assert "this torch has no torch.autograd._engine_run_backward: hooks that a backward pass calls are not" in said
    assert "inside Sleuth" not in said
    status, said = sleuth(tmp_path, ALL_GONE, "dry", FITS)
    assert (status, "0 found" in said) == (0, True), said


@pytest.mark.parametrize("command", ["run", "dry"])
def test_a_torch_newer_than_the_newest_tested_gets_one_quiet_line(tmp_path: Path, command: str) -> None:
    status, said = sleuth(tmp_path, of_version("9.1.0"), command, FITS.replace(".cuda()", ""))
    assert status == 0
    assert said.count("sleuth: torch 9.1 is newer than") == 1


def test_a_run_with_a_torch_that_is_too_old_goes_unwatched_and_says_so(tmp_path: Path) -> None:
    status, said = sleuth(tmp_path, of_version("2.5.1"), "run", FITS.replace(".cuda()", ""))
    assert status == 0
    assert "sleuth: torch 2.5 is too old: Sleuth needs 2.6 or newer; your program goes on unwatched" in said


def test_a_rehearsal_with_a_torch_that_is_too_old_is_not_begun(tmp_path: Path) -> None:
    status, said = sleuth(tmp_path, of_version("2.5.1"), "dry", FITS)
    assert (status, "torch 2.5 is too old" in said) == (2, True)
