"""A failing step is kept in a file, and re-created from it in another process: what is to blame?"""

from __future__ import annotations

import gc
import json
import os
import pickle
import sys
import textwrap
import zipfile
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
import torch

# Optimisers import it when they are first made; a fork of this process then need not.
import torch._dynamo

from sleuth import live, program
from sleuth.live.bundle import child, format, tree, verdict
from sleuth.live.bundle.pack import Keeper
from sleuth.live.bundle.variations import Command, Stage

# Every program begins like this; what differs between them is what goes wrong.
BEGINNING = """
import os
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
"""
ONE_BAD_SAMPLE = """
x, y = torch.rand(64, 4) + 0.1, torch.rand(64, 1)
x[37] = 0.0
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for xb, yb in DataLoader(TensorDataset(x, y), batch_size=8):
    loss = (model(torch.log(xb)) - yb).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
GROWING_WEIGHTS = """
x = 1 + torch.rand(400, 1) / 100
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
for (xb,) in DataLoader(TensorDataset(x), batch_size=4):
    score = model(xb)
    loss = -score.mean() + 0 * score.exp().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def forked(work: Callable[[], object]) -> None:
    """Do it in a process of its own, quickly: torch is imported already. What it prints is in `printed.txt`."""
    if not (process := os.fork()):
        status = 1
        try:
            torch.set_num_threads(1)
            printed = os.open("printed.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(printed, 1)
            os.dup2(printed, 2)
            _forget_the_tests()
            work()
            status = 0
        finally:
            os._exit(status)
    os.waitpid(process, 0)


def _forget_the_tests() -> None:
    """What ran in this process before must not look like a part of the user's program."""
    tests = str(Path(__file__).parents[1])
    for name in [n for n, m in sys.modules.items() if (getattr(m, "__file__", None) or "").startswith(tests)]:
        del sys.modules[name]
    program._started_in.cache_clear()
    torch._dynamo.reset()
    torch.compiler.set_stance("default")
    while torch._C._len_torch_function_stack():
        torch._C._pop_torch_function_stack()
    # Models and optimisers of other tests, which the collector then no longer shows to anyone.
    gc.freeze()


class Nearby(Stage):
    """Plays each variation in a fork of this process instead of a new interpreter."""

    def _run(self, task: dict[str, Any]) -> bool:
        forked(lambda: child.main(task))
        return True


@dataclass(frozen=True)
class Kept:
    """A program that failed under the watch, and the bundle it left."""

    folder: Path
    path: Path

    @property
    def bundle(self) -> format.Bundle:
        return format.read(self.path)

    @property
    def content(self) -> dict[str, Any]:
        return self.bundle.content

    def replay(self, from_start: bool = False) -> verdict.Verdict:
        command = Command("train.py", (), False, self.folder)
        stage = Nearby(self.bundle, command, seconds=60, from_start=from_start, hear=None)
        return verdict.decide(self.bundle, stage.play)


Keep = Callable[..., Kept]


@pytest.fixture
def bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Path]]:
    """Run a script under the watch in a process of its own, to its end, and find the bundles it leaves."""
    monkeypatch.chdir(tmp_path)

    def run(source: str, **options: Any) -> list[Path]:
        (tmp_path / "train.py").write_text(BEGINNING + textwrap.dedent(source))
        forked(lambda: live.run(program.find("train.py"), record=Path(".sleuth"), experiments=0, **options))
        rows = [json.loads(row) for path in tmp_path.glob(".sleuth/runs/*/record.jsonl") for row in path.open()]
        assert rows[-1]["row"] == "end"
        return list(tmp_path.glob(".sleuth/runs/*/crash*"))

    return run


@pytest.fixture
def keep(tmp_path: Path, bundles: Callable[..., list[Path]]) -> Keep:
    """Run a script that fails, for the one bundle it leaves."""

    def run(source: str) -> Kept:
        (path,) = bundles(source)
        return Kept(tmp_path, path)

    return run


def wider(source: str, width: int) -> str:
    """The same program with another number of hidden units."""
    return (
        source.replace("Linear(4, 8)", f"Linear(4, {width})")
        .replace("d(8)", f"d({width})")
        .replace("(8,", f"({width},")
    )


def outcomes(decided: verdict.Verdict) -> dict[str, str]:
    return {variation.name: outcome.how for variation, outcome in decided.played}


# The verdicts


def test_one_bad_sample_is_the_data(keep: Keep) -> None:
    kept = keep(ONE_BAD_SAMPLE)
    decided = kept.replay()
    assert decided.word == "data"
    assert outcomes(decided) == {
        "as it was": "bad",
        "with another batch": "finite",
        "with the weights the program starts from": "bad",
    }
    report = verdict.report(kept.bundle, decided, kept.folder, "train.py")
    assert report.exit == 1
    assert report.findings[0].diagnosis == "log-of-zero"
    assert report.findings[0].evidence[0].value == "data"
    assert (
        report.findings[0]
        .fixes[0]
        .title.endswith("number 37 of the data set first; with it came 32, 33, 34, 35, 36, 38, 39")
    )


def test_weights_that_grew_until_they_overflow_are_the_weights(keep: Keep) -> None:
    kept = keep(GROWING_WEIGHTS)
    assert kept.content["step"] > 5
    assert kept.replay().word == "weights"


def test_an_operation_that_fails_with_any_batch_and_weights_is_the_operation(keep: Keep) -> None:
    kept = keep("""
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (xb,) in DataLoader(TensorDataset(torch.rand(32, 4)), batch_size=8):
            loss = torch.sqrt((model(xb) * 0).pow(2).sum())
            loss.backward()
            optimizer.step()
    """)
    decided = kept.replay()
    assert decided.word == "operation"
    assert set(outcomes(decided).values()) == {"bad"}


def test_a_large_sample_that_only_trained_weights_bring_to_overflow_is_told_as_a_combination(keep: Keep) -> None:
    kept = keep("""
        x = torch.ones(200, 1)
        x[150] = 100.0
        model = nn.Linear(1, 1, bias=False)
        nn.init.constant_(model.weight, 0.1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
        for (xb,) in DataLoader(TensorDataset(x), batch_size=1):
            loss = (model(xb).exp() - 4.0).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    """)
    decided = kept.replay()
    assert decided.word == "operation"
    assert "together" in decided.because


def test_what_comes_from_outside_is_not_reproducible(keep: Keep, tmp_path: Path) -> None:
    (tmp_path / "sensor.txt").write_text("0.0")
    kept = keep("""
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (xb,) in DataLoader(TensorDataset(torch.rand(32, 4)), batch_size=8):
            loss = (model(xb) / float(open("sensor.txt").read())).mean()
            loss.backward()
            optimizer.step()
    """)
    (tmp_path / "sensor.txt").write_text("1.0")
    decided = kept.replay()
    assert decided.word == "not reproducible"
    report = verdict.report(kept.bundle, decided, kept.folder, "train.py")
    assert (report.exit, report.findings[0].severity) == (0, "note")


def test_a_backend_that_breaks_an_operation_is_compiled_code_only(keep: Keep) -> None:
    kept = keep("""
        def broken(module, inputs):
            for node in module.graph.nodes:
                if node.target is torch.relu:
                    node.target = torch.log
            module.recompile()
            return module.forward

        layer = nn.Linear(4, 4)
        model = torch.compile(lambda x: torch.relu(layer(x)).sum(), backend=broken)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for (xb,) in DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=8):
            loss = model(xb)
            loss.backward()
            optimizer.step()
    """)
    decided = kept.replay()
    assert decided.word == "compiled code only"
    assert outcomes(decided) == {"as it was": "bad", "without torch.compile": "finite"}


def test_a_dropout_mask_is_drawn_again_as_it_was(keep: Keep) -> None:
    kept = keep("""
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for (xb,) in DataLoader(TensorDataset(torch.rand(800, 4)), batch_size=8):
            kept = F.dropout(torch.ones(4), 0.5)
            loss = (model(xb).mean() * kept / kept.sum()).sum()
            loss.backward()
            optimizer.step()
    """)
    first, second = kept.replay(), kept.replay()
    assert first.word == second.word == "operation"
    assert "only with the random numbers of this step" in first.because
    assert outcomes(first) == outcomes(second)


def test_an_exception_in_a_step_is_replayed_too(keep: Keep) -> None:
    kept = keep("""
        x, y = torch.rand(64, 4), torch.randint(3, (64,))
        y[41] = 7
        model = nn.Linear(4, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for xb, yb in DataLoader(TensorDataset(x, y), batch_size=8):
            loss = F.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """)
    assert kept.content["symptom"]["error"] == "IndexError"
    decided = kept.replay()
    assert decided.word == "data"
    found = verdict.report(kept.bundle, decided, kept.folder, "train.py").findings[0]
    assert found.diagnosis == "exception-in-a-step"
    assert found.title == "a training step raises IndexError: Target 7 is out of bounds."


def test_what_the_run_could_not_name_is_named_by_the_replay(keep: Keep) -> None:
    kept = keep(ONE_BAD_SAMPLE)
    unnamed = replace(kept.bundle, finding=None)
    stage = Nearby(unnamed, Command("train.py", (), False, kept.folder), seconds=60)
    decided = verdict.decide(unnamed, stage.play)
    found = verdict.report(unnamed, decided, kept.folder, "train.py").findings[0]
    assert (decided.word, found.diagnosis, found.step) == ("data", "log-of-zero", 4)
    assert found.place is not None
    assert found.place.code == "torch.log(xb)"


HEALTHY = ONE_BAD_SAMPLE.replace("x[37] = 0.0", "")


@pytest.mark.parametrize(
    "source",
    [
        HEALTHY + "open('nowhere/model.pt')\n",
        HEALTHY.replace("batch_size=8)", "batch_size=8, collate_fn=lambda samples: 1 / 0)"),
        "model = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nmodel(torch.ones(3))",
    ],
    ids=["after training", "while a batch is fetched", "before training"],
)
def test_an_exception_outside_of_a_step_leaves_no_bundle(bundles: Callable[..., list[Path]], source: str) -> None:
    assert bundles(source) == []


# Ways of training


def test_a_gradient_scaler_gets_its_scale_back(keep: Keep) -> None:
    kept = keep("""
        x, y = torch.rand(64, 4) + 0.1, torch.rand(64, 1)
        x[40:] = 0.0
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for xb, yb in DataLoader(TensorDataset(x, y), batch_size=8):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = (model(torch.log(xb)) - yb).pow(2).mean()
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    """)
    assert kept.content["symptom"]["kind"] == "scale"
    assert ["scale", 256.0] in kept.content["scalers"][0]["dict"]
    assert kept.replay().word == "data"


def test_batches_made_in_the_loop_come_back_from_the_random_numbers(keep: Keep) -> None:
    kept = keep("""
        model = nn.Linear(4, 1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for step in range(200):
            x = torch.randn(1, 4)
            loss = torch.log(x.amax() + 0.5) * model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """)
    assert (kept.content["begins"], kept.content["loaders"]) == ("step", [])
    decided = kept.replay()
    assert (decided.word, outcomes(decided)["as it was"]) == ("data", "bad")


def test_weights_updated_by_hand_are_kept_by_their_variables(keep: Keep) -> None:
    kept = keep("""
        w = torch.ones(3, requires_grad=True)
        x = torch.rand(8, 3) + 0.5
        for step in range(100):
            score = x @ w
            loss = -score.mean() + 0 * score.exp().mean()
            loss.backward()
            with torch.no_grad():
                w -= 2.0 * w.grad
                w.grad = None
    """)
    assert [name for name, _ in kept.content["variables"]] == ["w"]
    assert kept.replay().word == "weights"


def test_indexed_batches_come_back_when_the_program_trains_up_to_the_step(keep: Keep) -> None:
    kept = keep("""
        x = torch.rand(64, 4) + 0.1
        x[37] = 0.0
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for start in range(0, 64, 8):
            loss = model(torch.log(x[start:start + 8])).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """)
    without = kept.replay()
    assert (without.word, "DataLoader" in without.because) == ("not reproducible", True)
    assert outcomes(kept.replay(from_start=True))["as it was"] == "bad"


def test_all_batches_of_an_accumulated_step_are_dealt_again(keep: Keep) -> None:
    kept = keep("""
        x = torch.rand(96, 4) + 0.1
        x[53] = 0.0
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for number, (xb,) in enumerate(DataLoader(TensorDataset(x), batch_size=8)):
            loss = torch.sqrt(xb.sum(1, keepdim=True) * model(xb).abs()).mean() / 3
            loss.backward()
            if number % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
    """)
    assert kept.content["symptom"]["batches"] == 3
    assert kept.replay().word == "data"


def test_of_two_optimisers_the_one_that_failed_is_looked_at(keep: Keep) -> None:
    kept = keep("""
        x = torch.rand(64, 4) + 0.1
        x[37] = 0.0
        one, other = nn.Linear(4, 1), nn.Linear(4, 1)
        first = torch.optim.Adam(one.parameters(), lr=0.01)
        second = torch.optim.Adam(other.parameters(), lr=0.01)
        for (xb,) in DataLoader(TensorDataset(x), batch_size=8):
            for model, optimizer, inputs in ((one, first, xb), (other, second, torch.log(xb))):
                loss = (model(inputs) - 1).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    """)
    assert [told["class"] for told in kept.content["optimizers"]] == ["Adam", "Adam"]
    assert kept.replay().word == "data"


# What is kept


def test_a_bundle_holds_the_step_before_the_update(keep: Keep) -> None:
    content = keep(ONE_BAD_SAMPLE).content
    assert content["step"] == 4
    assert content["program"] == {"name": "train.py", "module": False, "arguments": [], "folder": "../../.."}
    assert "train.py" in content["sources"]
    assert content["modules"][0]["class"] == "Sequential"
    assert [name for name, _ in content["modules"][0]["parameters"]][:2] == ["0.weight", "0.bias"]
    assert [told["class"] for told in content["optimizers"]] == ["Adam"]
    assert len(content["optimizers"][0]["state"]) == 6
    assert content["missing"] == []


def test_buffers_are_kept_as_the_round_found_them(keep: Keep) -> None:
    kept = keep(ONE_BAD_SAMPLE)
    numbers = dict(kept.content["modules"][0]["buffers"])
    mean = torch.frombuffer(kept.bundle.raw(numbers["1.running_mean"]), dtype=torch.float32)
    count = torch.frombuffer(kept.bundle.raw(numbers["1.num_batches_tracked"]), dtype=torch.int64)
    assert torch.isfinite(mean).all()
    assert count.item() == 4


def test_a_model_too_large_for_a_bundle_is_left_out_and_that_is_said(
    keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keeper.__init__, "__defaults__", (20_000,))
    kept = keep(wider(ONE_BAD_SAMPLE, 512))
    assert kept.content["weights"] is False
    assert kept.content["missing"][0].startswith("weights and optimiser state: they would take")
    decided = kept.replay()
    assert decided.word == "data"
    assert "with the weights the program starts from" not in outcomes(decided)


def test_no_bundle_is_written_where_none_is_wanted(bundles: Callable[..., list[Path]]) -> None:
    assert bundles(ONE_BAD_SAMPLE, bundle=False) == []


def test_a_finding_the_user_silenced_leaves_no_bundle(bundles: Callable[..., list[Path]]) -> None:
    assert bundles(ONE_BAD_SAMPLE, ignore={"log-of-zero"}) == []


def test_a_healthy_run_leaves_no_bundle(bundles: Callable[..., list[Path]]) -> None:
    assert bundles(HEALTHY) == []


def test_a_batch_with_things_no_bundle_can_hold_names_them(keep: Keep) -> None:
    kept = keep("""
        class Note:
            __slots__ = ()

        def together(samples):
            return {"x": torch.stack([x for x, in samples]), "note": Note()}

        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        x = torch.rand(32, 4)
        x[20] = 0.0
        for batch in DataLoader(TensorDataset(x), batch_size=8, collate_fn=together):
            loss = (model(torch.log(batch["x"])).mean())
            assert isinstance(batch["note"], Note)
            loss.backward()
            optimizer.step()
    """)
    assert kept.content["missing"] == ["the batch['note']: __main__.Note"]
    assert kept.replay().word == "data"


def test_the_places_of_a_report_start_where_the_command_is_run(keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = keep(ONE_BAD_SAMPLE)
    monkeypatch.chdir(kept.folder.parent)
    decided = verdict.Verdict("data", "", ())
    found = verdict.report(kept.bundle, decided, kept.folder, "train.py").findings[0]
    paths = {link.place.path for link in found.chain if link.place is not None} | {found.place.path}
    assert paths == {f"{kept.folder.name}/train.py"}


# The program changed


def test_a_changed_model_is_told_by_the_parameter_that_does_not_fit(keep: Keep) -> None:
    kept = keep(ONE_BAD_SAMPLE)
    script = kept.folder / "train.py"
    script.write_text(
        script.read_text().replace("8)", "9)").replace("(8,", "(9,").replace("batch_size=9", "batch_size=8")
    )
    with pytest.raises(verdict.CannotReplay, match=r"0.weight is float32\(9, 4\) here and was float32\(8, 4\)"):
        kept.replay()
    assert verdict.changed_sources(kept.bundle, kept.folder) == ("train.py",)


def test_a_program_that_raises_before_it_trains_is_told_so(keep: Keep) -> None:
    kept = keep(ONE_BAD_SAMPLE)
    script = kept.folder / "train.py"
    script.write_text(script.read_text().replace("model = ", "raise OSError('no data')\nmodel = "))
    with pytest.raises(
        verdict.CannotReplay, match="before its first training step the program raised OSError: no data"
    ):
        kept.replay()


# Hostile files


class Canary:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.path),))


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A small bundle, made without a run."""
    path = tmp_path / "crash.sleuth"
    content: dict[str, Any] = {
        "id": "1",
        "versions": {},
        "program": {"name": "train.py", "module": False, "arguments": [], "folder": "."},
        "sources": {},
        "step": 0,
        "rank": 0,
        "ranks": 1,
        "symptom": {"kind": "loss", "said": "", "error": None, "optimizer": None, "batches": 1}
        | {"backward": None, "place": None},
        "begins": "deal",
        "compiled": False,
        "loaders": [],
        "random": {"tensor": 0},
        "modules": [],
        "variables": [],
        "optimizers": [],
        "scalers": [],
        "weights": True,
        "missing": [],
    }
    numbers = SimpleNamespace(kind="float32", shape=(2, 2), raw=lambda: memoryview(bytes(16)))
    format.write(path, content, [numbers])
    assert format.read(path).kind(0) == ("float32", (2, 2))
    return path


def rewritten(path: Path, change: Callable[[dict[str, bytes]], object], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def with_json(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        members["bundle.json"] = json.dumps(json.loads(members["bundle.json"]) | changes).encode()

    return change


@pytest.mark.parametrize(
    "name", ["data.pkl", "archive/data.pkl", "tensors/../../x", "tensors/000001", "tensors/0", "x.py"]
)
def test_a_smuggled_pickle_is_neither_opened_nor_run(sound: Path, tmp_path: Path, name: str) -> None:
    canary = tmp_path / "canary"
    rewritten(sound, lambda members: members.update({name: pickle.dumps(Canary(canary))}))
    with pytest.raises(format.NotABundle, match="is refused: it holds"):
        format.read(sound)
    assert not canary.exists()


def test_a_pickle_in_the_place_of_a_tensor_is_only_ever_numbers(sound: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    evil = pickle.dumps(Canary(canary))
    rewritten(sound, lambda members: members.update({"tensors/000000": evil}))
    with pytest.raises(format.NotABundle, match=f"tensor 0 has {len(evil)} bytes"):
        format.read(sound)
    rewritten(sound, with_json(tensors=[{"dtype": "uint8", "shape": [len(evil)]}]))
    assert bytes(format.read(sound).raw(0)) == evil
    assert not canary.exists()


def test_a_file_of_torch_save_is_refused(tmp_path: Path) -> None:
    path, canary = tmp_path / "crash.sleuth", tmp_path / "canary"
    torch.save({"x": Canary(canary)}, path)
    with pytest.raises(format.NotABundle, match=r"no bundle.json, so Sleuth did not write it"):
        format.read(path)
    assert not canary.exists()


@pytest.mark.parametrize("kept", [0, 10, 100, -30, -1])
def test_a_file_cut_short_is_refused(sound: Path, kept: int) -> None:
    sound.write_bytes(sound.read_bytes()[:kept])
    with pytest.raises(format.NotABundle, match="not a bundle"):
        format.read(sound)


def test_a_flipped_bit_is_noticed(sound: Path) -> None:
    raw = bytearray(sound.read_bytes())
    with zipfile.ZipFile(sound) as archive:
        at = archive.getinfo("tensors/000000").header_offset
    raw[at + 70] ^= 1
    sound.write_bytes(raw)
    with pytest.raises(format.NotABundle, match=r"damaged|not a bundle|cut short"):
        format.read(sound)


def test_a_compressed_member_is_refused_so_nothing_can_swell(sound: Path) -> None:
    rewritten(sound, lambda members: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(format.NotABundle, match="compressed or encrypted"):
        format.read(sound)


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": 2},
        {"schema": "1"},
        {"tensors": []},
        {"tensors": [{"dtype": "object", "shape": [16]}]},
        {"tensors": [{"dtype": "float32", "shape": [-2, -2]}]},
        {"tensors": [{"dtype": "float32", "shape": [2, True]}]},
        {"tensors": [{"dtype": "float32", "shape": [3, 2]}]},
        {"random": {"tensor": 1}},
        {"random": {"tensor": -1}},
        {"random": {"pickle": "x"}},
        {"random": {"object": "os.system", "has": 3}},
        {"modules": [{"class": "Net", "parameters": [["w", 9]], "buffers": []}]},
        {"program": {"name": 3}},
        {"step": -1},
        {"begins": "at once"},
        {"symptom": None},
    ],
)
def test_what_sleuth_did_not_write_is_refused(sound: Path, changes: dict[str, Any]) -> None:
    rewritten(sound, with_json(**changes))
    with pytest.raises(format.NotABundle, match="is refused"):
        format.read(sound)


def test_json_nested_without_end_is_refused(sound: Path) -> None:
    rewritten(sound, lambda members: members.update({"bundle.json": b'{"random":' + b'{"list":[' * 50_000}))
    with pytest.raises(format.NotABundle, match="not a bundle"):
        format.read(sound)


# Nested values

Pair = namedtuple("Pair", ["image", "label"])


def through_a_tree(value: Any, like: Any) -> Any:
    tensors: list[torch.Tensor] = []
    planter = tree.Planter(lambda tensor: tensors.append(tensor) or len(tensors) - 1)
    planted = json.loads(json.dumps(planter.plant(value, "it"), allow_nan=False))
    assert tree.is_sound(planted, lambda number: 0 <= number < len(tensors))
    return tree.grow(planted, tensors.__getitem__, like)


def test_a_batch_gets_its_classes_from_one_of_the_programs_own() -> None:
    value = {
        "pair": Pair(torch.ones(2), 3),
        "numbers": [float("nan"), float("-inf"), 2**90, None, True],
        "nested": OrderedDict(a=(numpy.arange(3), numpy.float32(2.5))),
        "object": SimpleNamespace(x=torch.zeros(1), lock=set()),
    }
    own = {
        "pair": Pair(torch.zeros(2), 0),
        "numbers": [],
        "nested": OrderedDict(),
        "object": SimpleNamespace(x=torch.ones(1), lock={"mine"}),
    }
    grown = through_a_tree(value, own)
    assert type(grown["pair"]) is Pair
    assert torch.equal(grown["pair"].image, torch.ones(2))
    assert str(grown["numbers"]) == str(value["numbers"])
    assert type(grown["nested"]) is OrderedDict
    assert grown["nested"]["a"][0].tolist() == [0, 1, 2]
    assert type(grown["nested"]["a"][1]) is numpy.float32
    assert (grown["object"].x.item(), grown["object"].lock) == (0.0, {"mine"})


def test_an_object_without_a_model_of_it_is_not_made_up() -> None:
    assert through_a_tree(SimpleNamespace(x=1), None) is None


def test_an_object_that_holds_itself_comes_to_an_end() -> None:
    ring = SimpleNamespace(x=torch.ones(1))
    ring.again = [ring, ring]
    grown = through_a_tree(ring, SimpleNamespace(x=torch.zeros(1), again=["mine"]))
    assert grown.x.item() == 1.0
