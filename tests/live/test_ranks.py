"""Several ranks under torch.distributed (gloo, two real processes): found together, told once, never left hanging."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sleuth import handbook
from sleuth.findings import Finding, Place
from sleuth.live.ranks import merge, muster, team
from sleuth.live.ranks.muster import Fate

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = Path(__file__).with_name("ranks") / "train.py"
# A hang is a failure of the kind these tests are for: everything that was started is ended, and the test fails.
LIMIT = 600


@dataclass(frozen=True)
class Ran:
    status: int
    stdout: str
    stderr: str
    report: dict[str, Any] | None
    seconds: float

    @property
    def only(self) -> dict[str, Any]:
        assert self.report is not None, self.stderr
        assert len(self.report["findings"]) == 1, (self.report["findings"], self.stderr)
        return self.report["findings"][0]


def line_of(comment: str) -> int:
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    return 1 + next(number for number, line in enumerate(lines) if line.endswith(f"# {comment}"))


def bounded(command: list[str], folder: Path) -> tuple[int, str, str]:
    """Run a command in a session of its own; after the limit all of it is ended, and the test fails."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        pytest.fail(f"hung for {LIMIT} s: {command}\n{stdout}\n{stderr}")
    return process.returncode, stdout, stderr


Runs = Callable[..., Ran]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """Run the program under Sleuth: forked or spawned by itself, or by torchrun with a `sleuth run` for each rank."""
    shutil.copy(PROGRAM, tmp_path / "train.py")

    def run(launch: str, kind: str, trouble: str, *options: str) -> Ran:
        report = tmp_path / "report.json"
        sleuth = ["-m", "sleuth", "run", "--format", "json", "--output", str(report), *options]
        command = [sys.executable]
        if launch == "torchrun":
            command += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        started = time.monotonic()
        status, stdout, stderr = bounded([*command, *sleuth, "train.py", launch, kind, trouble], tmp_path)
        told = json.loads(report.read_text()) if report.exists() else None
        return Ran(status, stdout, stderr, told, time.monotonic() - started)

    return run


def saved(folder: Path) -> list[dict[str, Any]]:
    import torch

    return [torch.load(folder / f"rank{rank}.pt") for rank in range(2)]


def assert_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    import torch

    assert torch.equal(one["random"], other["random"])
    assert torch.equal(one["shown"], other["shown"])
    for name, weight in one["model"].items():
        assert torch.equal(weight, other["model"][name]), name


def test_healthy_ranks_get_no_finding_and_bitwise_the_weights_they_have_without_sleuth(
    runs: Runs, tmp_path: Path
) -> None:
    status, plain, _ = bounded([sys.executable, "train.py", "fork", "ddp", "none"], tmp_path)
    assert status == 0
    without = saved(tmp_path)
    ran = runs("fork", "ddp", "none", "--no-record")
    assert (ran.status, ran.report["findings"]) == (0, [])
    assert ran.stdout == plain
    assert "an error inside Sleuth" not in ran.stderr
    assert "nothing found in 48 steps on 2 ranks" in ran.stderr
    for one, other in zip(saved(tmp_path), without, strict=True):
        assert_equal(one, other)


def test_a_bad_sample_of_one_rank_is_found_by_all_and_told_once_under_torchrun(runs: Runs, tmp_path: Path) -> None:
    ran = runs("torchrun", "ddp", "sample")
    assert ran.status == 1
    assert (ran.only["diagnosis"], ran.only["rank"], ran.only["step"]) == ("non-finite-sample", 1, 6)
    assert ran.only["place"]["line"] == line_of("forward")
    assert {item["name"]: item["value"] for item in ran.only["evidence"]}["sample index"] == 99
    (folder,) = (tmp_path / ".sleuth" / "runs").glob("*train*")
    assert {path.name for path in folder.glob("*.jsonl")} == {"record.jsonl", "record-rank1.jsonl"}
    status, stdout, _ = bounded([sys.executable, "-m", "sleuth", "report", "--format", "json"], tmp_path)
    assert status == 1
    assert json.loads(stdout)["findings"] == ran.report["findings"]


def test_a_derivative_of_one_rank_is_traced_to_its_line_in_spawned_processes(runs: Runs) -> None:
    ran = runs("spawn", "ddp", "derivative")
    assert ran.status == 1
    assert (ran.only["diagnosis"], ran.only["rank"], ran.only["step"]) == ("sqrt-gradient-at-zero", 1, 6)
    assert ran.only["place"]["line"] == line_of("distance")
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("kind", "trouble", "diagnosis", "line"),
    [
        ("fully_shard", "sample", "non-finite-sample", "forward"),
        ("fsdp", "derivative", "sqrt-gradient-at-zero", "distance"),
    ],
)
def test_with_sharded_gradients_the_rank_and_line_of_birth_are_found(
    kind: str, trouble: str, diagnosis: str, line: str, runs: Runs
) -> None:
    ran = runs("fork", kind, trouble, "--no-record")
    assert ran.status == 1
    assert (ran.only["diagnosis"], ran.only["rank"], ran.only["step"]) == (diagnosis, 1, 6)
    assert ran.only["place"]["line"] == line_of(line)
    assert "an error inside Sleuth" not in ran.stderr


def test_with_keep_going_all_ranks_skip_the_same_update(runs: Runs, tmp_path: Path) -> None:
    import torch

    ran = runs("fork", "ddp", "derivative", "--no-record", "--keep-going")
    assert ran.only["rank"] == 1
    assert "through" in ran.stdout
    one, other = saved(tmp_path)
    for name, weight in one["model"].items():
        assert torch.isfinite(weight).all()
        assert torch.equal(weight, other["model"][name])


def test_what_the_user_expects_is_checked_in_spawned_processes_too(runs: Runs) -> None:
    ran = runs("spawn", "ddp", "none", "--expect", "the learning rate stays below 1e-9")
    assert ran.only["diagnosis"] == "broken-expectation"
    assert ran.status == 1


def test_a_wrapper_that_is_bypassed_lets_the_ranks_drift_apart(runs: Runs) -> None:
    ran = runs("fork", "ddp", "raw", "--no-record")
    assert (ran.status, ran.only["diagnosis"], ran.only["certainty"]) == (1, "ranks-drift-apart", "certain")
    assert ran.only["place"]["line"] == line_of("called")
    assert "past the DistributedDataParallel" in ran.only["chain"][0]["what"]
    evidence = {item["name"]: item["value"] for item in ran.only["evidence"]}
    assert evidence["first parameter that differs"].endswith("first.weight")
    assert evidence["ranks"] == [0, 1]


@pytest.mark.parametrize("kind", ["ddp", "fully_shard"])
def test_ranks_without_a_distributed_sampler_get_the_same_data(kind: str, runs: Runs) -> None:
    ran = runs("fork", kind, "same data", "--no-record")
    assert (ran.status, ran.only["diagnosis"]) == (1, "same-data-on-every-rank")
    assert ran.only["place"]["line"] == line_of("loader")


@pytest.mark.parametrize("launch", ["torchrun", "spawn"])
def test_a_rank_that_is_killed_is_named_and_nobody_waits_for_it(launch: str, runs: Runs) -> None:
    ran = runs(launch, "ddp", "killed")
    assert ran.status != 0
    assert (ran.only["diagnosis"], ran.only["rank"]) == ("rank-ended-early", 1)
    # torchrun alone knows the signal, the ranks see that the process is gone.
    assert ("SIGKILL" in ran.only["title"]) == (launch == "spawn")
    told = " ".join(link["what"] for link in ran.only["chain"])
    assert "rank 0" in told
    assert "cause" in told or "ended" in told


# What needs no processes


def a_finding(diagnosis: str = "log-of-zero", line: int = 3) -> Finding:
    return handbook.finding(diagnosis, place=Place("train.py", line), step=5)


def test_what_all_ranks_found_is_one_finding_and_what_one_found_names_it() -> None:
    everywhere, alone = a_finding(line=3), a_finding(line=9)
    found = merge.together({0: [everywhere], 1: [everywhere, alone]}, ranks=2)
    assert [(f.place.line, f.rank) for f in found if f.place is not None] == [(3, None), (9, 1)]
    assert found[0].evidence[0].value == (0, 1)
    assert merge.together({0: [everywhere]}, ranks=1) == (everywhere,)


def fate(rank: int, how: str = "", ended_at: float = 0.0, process: int = 1 << 29) -> Fate:
    return Fate(rank, process + rank, bool(how), how, 20, ended_at)


def test_who_died_is_told_before_who_noticed() -> None:
    gone, noticed = fate(1), fate(0, "raised RuntimeError", 2.0)
    died = merge.deaths([noticed, gone], {gone.process: -signal.SIGKILL})
    assert died is not None
    assert (died.rank, died.title) == (1, "rank 1 was ended by signal 9 (SIGKILL), last seen at step 20")
    raised = merge.deaths([noticed, fate(1, "raised ValueError", 1.0)])
    assert raised is not None
    assert (raised.rank, raised.certainty) == (1, "certain")
    finished = merge.deaths([noticed, fate(1, "ended", 1.0)])
    assert finished is not None
    assert (finished.rank, finished.certainty) == (1, "likely")


def test_ranks_that_end_well_or_alike_or_by_a_verdict_are_no_deaths() -> None:
    assert merge.deaths([fate(0, "ended", 1.0), fate(1, "ended", 2.0)]) is None
    assert merge.deaths([fate(0, "raised ValueError", 1.0), fate(1, "raised ValueError", 2.0)]) is None
    assert merge.deaths([fate(0, merge.STOPPED, 1.0), fate(1)]) is None
    assert merge.deaths([fate(0, "ended", 1.0), fate(1)]) is None
    left = fate(1)
    assert merge.deaths([fate(0, "raised RuntimeError", 1.0), left], {left.process: 0}) is None
    asked = fate(0)
    assert merge.deaths([asked, fate(1, "raised ValueError", 1.0)], {asked.process: -signal.SIGTERM}) is None


def test_the_rank_of_birth_speaks_and_of_those_that_saw_nothing_the_first() -> None:
    def words(*weights: int) -> dict[int, team.Word]:
        return {rank: {"weight": weight, "silenced": False} for rank, weight in enumerate(weights)}

    born = words(team.UNSEEN, team.IN_OWN_FORWARD, team.ARRIVED)
    assert [team.speaks(born, rank) for rank in range(3)] == [False, True, False]
    both = words(team.BORN_HERE, team.BORN_HERE)
    assert [team.speaks(both, rank) for rank in range(2)] == [True, True]
    none = words(team.UNSEEN, team.UNSEEN)
    assert [team.speaks(none, rank) for rank in range(2)] == [True, False]


def test_a_sitecustomize_of_the_users_own_still_runs_in_processes_that_the_program_starts(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('mine')")
    program = tmp_path / "program.py"
    program.write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(\"child\")'], check=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(SOURCE)))}
    command = [sys.executable, "-m", "sleuth", "run", "--no-record", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT)
    assert done.stdout.split() == ["mine", "mine", "child"]
    assert "Error" not in done.stderr


def test_a_process_that_is_gone_is_not_alive_even_before_its_parent_has_noticed() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    try:
        deadline = time.monotonic() + 30
        while muster.is_alive(process.pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not muster.is_alive(process.pid)
    finally:
        process.wait()
    assert muster.is_alive(os.getpid())


def test_a_rank_that_waits_may_go_when_the_one_that_spoke_has_cleared_the_folder_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert not muster.speaks_for_all(tmp_path / "gone")


META_THEN_EMPTY = """
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard

torch.distributed.init_process_group("gloo")
torch.manual_seed(torch.distributed.get_rank())
with torch.device("meta"):
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
for layer in (model[0], model[2], model):
    fully_shard(layer)
model.to_empty(device="cpu")
for layer in (model[0], model[2]):
    layer.reset_parameters()
{spoil}
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(20):
    x = torch.randn(16, 4)
    loss = (model(x) - x[:, :2]).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
torch.distributed.destroy_process_group()
"""


@pytest.mark.parametrize("spoil", ["", "nn.init.constant_(model[0].weight, float('nan'))"])
def test_weights_that_are_sharded_before_they_have_memory(spoil: str, tmp_path: Path) -> None:
    """They trade places with ones that have; gathered, they give their memory back as soon as a layer is done."""
    (tmp_path / "train.py").write_text(META_THEN_EMPTY.format(spoil=spoil), encoding="utf-8")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "train.py"]
    report = tmp_path / "report.json"
    options = ["--no-record", "--format", "json", "--output", str(report)]
    status, _, stderr = bounded([sys.executable, "-m", "sleuth", "run", *options, *launch], tmp_path)
    assert "inside Sleuth" not in stderr
    found = json.loads(report.read_text())["findings"]
    if not spoil:
        assert status == 0, stderr
        assert found == []
    else:
        assert [one["diagnosis"] for one in found] == ["non-finite-weight"]
        assert "holds NaN" in found[0]["title"]
