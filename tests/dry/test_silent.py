"""Things that go wrong without a crash: seen in a rehearsal, at their line, and their healthy twins left alone."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional

from sleuth import handbook
from sleuth.dry.in_process import Numbers, hold
from sleuth.dry.journal import Journal
from sleuth.dry.scenario import Scenario
from sleuth.findings import Finding

HERE = Path(__file__)
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _no_watcher_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watcher that raises is heard no more; here this must not pass for silence."""
    plain = Journal.write

    def write(journal: Journal, kind: str, **content: object) -> None:
        assert kind != "broken", content
        plain(journal, kind, **content)

    monkeypatch.setattr(Journal, "write", write)


def found(act: Callable[[], object], numbers: Numbers = "real") -> list[Finding]:
    held = hold(act, Scenario("<test>"), numbers)
    assert held.error is None, held.error
    return held.findings


def line_of(finding: Finding) -> str:
    assert finding.place is not None
    return HERE.read_text(encoding="utf-8").splitlines()[finding.place.line - 1].strip()


def trained(model: nn.Module, loss: Callable[[], torch.Tensor], optimizer: torch.optim.Optimizer | None = None) -> None:
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()


def played(source: str, tmp_path: Path, numbers: Numbers = "real") -> list[Finding]:
    """What is found in a script of its own."""
    path = tmp_path / "script.py"
    path.write_text(source, encoding="utf-8")
    module = types.ModuleType("script")
    module.__file__ = str(path)

    def act() -> None:
        sys.modules["script"] = module
        exec(compile(source, str(path), "exec"), module.__dict__)

    try:
        return found(act, numbers)
    finally:
        sys.modules.pop("script", None)


PAGES = ("loss-broadcast", "float64-creeping-in", "parameters-not-in-optimizer", "parameters-unused")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.filterwarnings("ignore")
def test_the_before_block_of_its_page_shows_it_and_the_after_block_nothing(name: str, tmp_path: Path) -> None:
    blocks = dict(BLOCK.findall(handbook.page(name).text))
    assert [finding.diagnosis for finding in played(blocks["python before"], tmp_path)] == [name]
    assert played(blocks["python after"], tmp_path) == []


@pytest.mark.parametrize("name", PAGES)
def test_the_page_names_this_engine(name: str) -> None:
    assert "dry" in handbook.page(name).engines


# (N, 1) against (N,)

X, Y = torch.randn(8, 3), torch.randn(8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("loss", [functional.mse_loss, functional.l1_loss, nn.SmoothL1Loss(), nn.HuberLoss()])
def test_a_loss_that_compares_every_output_with_every_target_is_certain(loss: Callable[..., torch.Tensor]) -> None:
    def act() -> None:
        model = nn.Linear(3, 1).cuda()
        x, y = X.cuda(), Y.cuda()
        trained(model, lambda: loss(model(x), y))

    (finding,) = found(act)
    assert (finding.diagnosis, finding.certainty) == ("loss-broadcast", "certain")
    assert line_of(finding) == "trained(model, lambda: loss(model(x), y))"
    assert [evidence.value for evidence in finding.evidence] == [(8, 1), (8,), (8, 8)]


def test_a_subtraction_is_likely() -> None:
    def act() -> None:
        model = nn.Linear(3, 1)
        trained(model, lambda: ((Y - model(X)) ** 2).mean())

    (finding,) = found(act)
    assert (finding.diagnosis, finding.certainty) == ("loss-broadcast", "likely")


def test_a_subtraction_seen_once_is_told_at_the_end() -> None:
    def act() -> None:
        model = nn.Linear(3, 1)
        ((model(X) - Y) ** 2).mean().backward()

    assert [finding.diagnosis for finding in found(act)] == ["loss-broadcast"]


def test_targets_made_of_a_range_are_no_grid() -> None:
    def act() -> None:
        model, x = nn.Linear(1, 1), torch.linspace(0, 1, 8)
        y = torch.sin(x)
        trained(model, lambda: ((model(x.unsqueeze(1)) - y) ** 2).mean())

    assert [finding.diagnosis for finding in found(act)] == ["loss-broadcast"]


def all_pairs_written_out() -> None:
    model = nn.Linear(3, 1)
    trained(model, lambda: ((model(X).squeeze(1)[:, None] - Y) ** 2).mean())


def all_pairs_of_outputs() -> None:
    model = nn.Linear(3, 1)
    trained(model, lambda: (model(X) - model(X).squeeze(1)).abs().mean())


def a_column_kept_on_the_line() -> None:
    points, data = nn.Linear(3, 2), torch.randn(8, 2)
    trained(points, lambda: (points(X)[:, :1] - data[:, 0]).pow(2).min(1).values.mean())


def a_grid_of_points() -> None:
    model, grid = nn.Linear(3, 1), torch.linspace(0, 1, 8)
    trained(model, lambda: torch.exp(-((model(X) - grid) ** 2)).mean())


def centres_in_a_buffer() -> None:
    class Bins(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 1)
            self.register_buffer("centres", torch.randn(8))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x) - self.centres

    model = Bins()
    trained(model, lambda: model(X).pow(2).mean())


def sizes_that_agree_once() -> None:
    model = nn.Linear(3, 1)
    for x, y in ((X, Y), (X[:5], Y)):
        ((model(x) - y) ** 2).mean().backward()


def quantiles() -> None:
    model, target = nn.Linear(3, 8), torch.randn(8, 8)
    trained(model, lambda: functional.smooth_l1_loss(model(X).unsqueeze(2), target.unsqueeze(1), reduction="mean"))


def the_same_shape() -> None:
    model = nn.Linear(3, 1)
    trained(model, lambda: functional.mse_loss(model(X), Y.unsqueeze(1)) + (model(X).squeeze(1) - Y).abs().mean())


def numbers_without_a_model() -> None:
    (X[:, :1] - Y).mean()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "act",
    [
        all_pairs_written_out,
        all_pairs_of_outputs,
        a_column_kept_on_the_line,
        a_grid_of_points,
        centres_in_a_buffer,
        sizes_that_agree_once,
        quantiles,
        the_same_shape,
        numbers_without_a_model,
    ],
)
def test_all_pairs_on_purpose_and_equal_shapes_are_silent(act: Callable[[], None]) -> None:
    assert found(act) == []


# float64


class Scaled(nn.Module):
    def __init__(self, scale: torch.Tensor) -> None:
        super().__init__()
        self.layer, self.scale = nn.Linear(3, 1), scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) * self.scale


def test_float64_in_a_layer_is_a_warning_at_the_line_where_it_meets_float32() -> None:
    def act() -> None:
        model = Scaled(torch.from_numpy(numpy.ones(1)))
        trained(model, lambda: model(X).pow(2).mean())

    (finding,) = found(act)
    assert (finding.diagnosis, finding.severity, finding.certainty) == ("float64-creeping-in", "warning", "likely")
    assert line_of(finding) == "return self.layer(x) * self.scale"
    assert finding.chain[0].place is not None
    assert finding.chain[0].place.code == "torch.from_numpy(numpy.ones(1))"


def test_float64_targets_are_a_note() -> None:
    def act() -> None:
        model, y = nn.Linear(3, 1), torch.tensor(numpy.random.randn(8, 1))
        trained(model, lambda: functional.mse_loss(model(X), y))

    (finding,) = found(act)
    assert (finding.severity, finding.certainty) == ("note", "hint")


def python_numbers() -> None:
    model = nn.Linear(3, 1)
    trained(model, lambda: (model(X) * numpy.float64(0.5) * torch.tensor(2.0, dtype=torch.float64)).mean())


def a_model_of_float64() -> None:
    model = nn.Linear(3, 1).double()
    trained(model, lambda: (model(X.double()) * torch.from_numpy(numpy.ones(1))).mean())


def a_cast_back() -> None:
    model, scale = nn.Linear(3, 1), torch.from_numpy(numpy.ones(1))
    trained(model, lambda: (model(X) * scale).float().mean())


def a_deliberate_cast() -> None:
    model = nn.Linear(3, 1)
    trained(model, lambda: model(X).double().pow(2).sum())


@pytest.mark.parametrize("act", [python_numbers, a_model_of_float64, a_cast_back, a_deliberate_cast])
def test_float64_on_purpose_is_silent(act: Callable[[], None]) -> None:
    assert found(act) == []


def test_float64_by_default_is_silent() -> None:
    def act() -> None:
        model = nn.Linear(3, 1)
        trained(model, lambda: (model(torch.randn(8, 3)) * torch.from_numpy(numpy.ones(1))).mean())

    torch.set_default_dtype(torch.float64)
    try:
        assert found(act) == []
    finally:
        torch.set_default_dtype(torch.float32)


# Parameters that no optimiser holds


def test_a_head_replaced_after_the_optimiser_was_made_is_found_at_its_line() -> None:
    def act() -> None:
        model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model[1] = nn.Linear(4, 2)
        model.cuda()
        x = X.cuda()
        trained(model, lambda: model(x).pow(2).mean(), optimizer)

    (finding,) = found(act)
    assert finding.diagnosis == "parameters-not-in-optimizer"
    assert line_of(finding) == "model[1] = nn.Linear(4, 2)"
    assert finding.chain[0].place is not None
    assert "SGD" in (finding.chain[0].place.code or "")


class InAList(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = [nn.Linear(4, 4), nn.Linear(4, 1)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for layer in self.rest:
            x = layer(x)
        return x


def test_layers_in_a_plain_list_are_found_at_the_line_that_makes_them() -> None:
    def act() -> None:
        model = InAList()
        trained(model, lambda: model(X).pow(2).mean())

    (finding,) = found(act)
    assert finding.diagnosis == "parameters-not-in-optimizer"
    assert line_of(finding) == "self.rest = [nn.Linear(4, 4), nn.Linear(4, 1)]"
    assert finding.fixes[0].title.startswith("keep layers in nn.ModuleList")


def two_optimisers() -> None:
    encoder, decoder = nn.Linear(3, 4), nn.Linear(4, 3)
    optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (encoder, decoder)]
    for _ in range(2):
        decoder(encoder(X)).pow(2).mean().backward()
        for optimizer in optimizers:
            optimizer.step()


def a_gan() -> None:
    maker, judge = nn.Linear(3, 3), nn.Linear(3, 1)
    first, second = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    for _ in range(2):
        second.zero_grad()
        judge(maker(X).detach()).mean().backward()
        second.step()
        first.zero_grad()
        judge(maker(X)).mean().backward()
        first.step()


def only_the_head() -> None:
    body, head = nn.Linear(3, 4), nn.Linear(4, 1)
    model = nn.Sequential(body, head)
    trained(model, lambda: model(X).mean(), torch.optim.SGD(head.parameters(), lr=0.1))


def a_later_phase() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    first = torch.optim.SGD(model.parameters(), lr=0.1)
    model.append(nn.Linear(1, 1))
    trained(model, lambda: model(X).mean(), first)
    trained(model, lambda: model(X).mean(), torch.optim.SGD(model[2].parameters(), lr=0.1))


def a_group_added() -> None:
    model = nn.Sequential(nn.Linear(3, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.append(nn.Linear(4, 1))
    optimizer.add_param_group({"params": model[1].parameters()})
    trained(model, lambda: model(X).mean(), optimizer)


def an_image_is_made() -> None:
    model, image = nn.Linear(3, 1), nn.Parameter(torch.randn(8, 3))
    trained(model, lambda: model(image).mean(), torch.optim.Adam([image]))


def a_sparse_table_beside_the_rest() -> None:
    table, layer = nn.Embedding(9, 3, sparse=True), nn.Linear(3, 1)
    optimizers = [torch.optim.SparseAdam(table.parameters()), torch.optim.Adam(layer.parameters())]
    for _ in range(2):
        layer(table(torch.tensor([1, 2, 2]))).pow(2).mean().backward()
        assert table.weight.grad is not None
        table.weight.grad.mul_(0.5)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def updated_by_hand() -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    shift = nn.Parameter(torch.zeros(8, 1))
    held = {"shift": shift}
    model.held = held  # type: ignore[assignment]
    for _ in range(2):
        (model(X) + shift).pow(2).mean().backward()
        with torch.no_grad():
            shift -= 0.1 * shift.grad
        optimizer.step()


@pytest.mark.parametrize(
    "act",
    [
        a_sparse_table_beside_the_rest,
        two_optimisers,
        a_gan,
        only_the_head,
        a_later_phase,
        a_group_added,
        an_image_is_made,
        updated_by_hand,
    ],
)
def test_several_optimisers_and_choices_are_silent(act: Callable[[], None]) -> None:
    assert found(act) == []


# Parameters that nothing depends on


class Forgetful(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.forgotten_here = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.last = nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.first(x))


class Frozen(Forgetful):
    def __init__(self) -> None:
        super().__init__()
        self.forgotten_here.requires_grad_(False)


class Overwritten(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 4)
        self.last = nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.first(x)
        self.second(h)
        return self.last(h)


class Waiting(Overwritten):
    def forward(self, x: torch.Tensor, more: bool = False) -> torch.Tensor:
        h = self.first(x)
        return self.last(self.second(h) if more else h)


def test_a_layer_that_forward_forgets_is_a_likely_note_at_its_line() -> None:
    def act() -> None:
        model = Forgetful().cuda()
        x = X.cuda()
        trained(model, lambda: model(x).mean())

    (finding,) = found(act)
    assert (finding.diagnosis, finding.severity, finding.certainty) == ("parameters-unused", "note", "likely")
    assert line_of(finding) == "self.forgotten_here = nn.Sequential(nn.Linear(4, 4), nn.ReLU())"
    assert {evidence.name: evidence.value for evidence in finding.evidence}["part"] == "forgotten_here"


def test_a_layer_whose_result_is_not_used_is_a_hint() -> None:
    def act() -> None:
        model = Overwritten()
        trained(model, lambda: model(X).mean())

    (finding,) = found(act)
    assert (finding.diagnosis, finding.certainty) == ("parameters-unused", "hint")
    assert finding.chain[1].place is not None
    assert finding.chain[1].place.code == "self.second(h)"


def another_branch() -> None:
    model = Waiting()
    trained(model, lambda: model(X).mean())


def used_at_times() -> None:
    model = Waiting()
    turns = iter((False, True))
    trained(model, lambda: model(X, next(turns)).mean())


def frozen() -> None:
    model = Frozen()
    trained(model, lambda: model(X).mean())


def not_optimised() -> None:
    model = Forgetful()
    trained(
        model, lambda: model(X).mean(), torch.optim.SGD([*model.first.parameters(), *model.last.parameters()], lr=0.1)
    )


def a_library_s_own() -> None:
    model = nn.Bilinear(3, 3, 1)
    model.register_parameter("extra", nn.Parameter(torch.zeros(1)))
    trained(model, lambda: model(X, X).mean())


def a_library_s_own_in_the_user_s() -> None:
    class Around(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Bilinear(3, 3, 1)
            self.inner.register_parameter("extra", nn.Parameter(torch.zeros(1)))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x, x)

    model = Around()
    trained(model, lambda: model(X).mean())


def rows_written_through_a_view() -> None:
    model = nn.Embedding(5, 2)
    with torch.no_grad():
        row = model.weight[0]
        row.zero_()
    model.weight.data[1] = 1
    trained(model, lambda: model(torch.tensor([0, 1])).pow(2).mean())


@pytest.mark.parametrize(
    "act",
    [
        another_branch,
        used_at_times,
        frozen,
        not_optimised,
        a_library_s_own,
        a_library_s_own_in_the_user_s,
        rows_written_through_a_view,
    ],
)
def test_parts_left_out_on_purpose_are_silent(act: Callable[[], None]) -> None:
    assert found(act) == []


def test_a_rehearsal_that_crashed_is_not_judged() -> None:
    def act() -> None:
        model = Forgetful()
        trained(model, lambda: model(X).mean())
        raise ValueError("something else")

    held = hold(act, Scenario("<test>"), "real")
    assert isinstance(held.error, ValueError)
    assert "parameters-unused" not in [finding.diagnosis for finding in held.findings]


def test_a_wrapper_that_waits_for_unused_parameters_crashes_and_their_layer_is_named() -> None:
    def act() -> None:
        torch.distributed.init_process_group("nccl", init_method="tcp://localhost:29500", rank=0, world_size=1)
        model = nn.parallel.DistributedDataParallel(Waiting().cuda(), device_ids=[0])
        trained(model, lambda: model(X.cuda()).mean())

    held = hold(act, Scenario("<test>"), "real")
    (finding,) = held.findings
    assert (finding.diagnosis, finding.severity, finding.certainty) == ("parameters-unused", "error", "certain")
    assert line_of(finding) == "self.second = nn.Linear(4, 4)"
    assert "second" in finding.title


# Without numbers


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PAGES)
def test_fake_numbers_show_the_same(name: str, tmp_path: Path) -> None:
    blocks = dict(BLOCK.findall(handbook.page(name).text))
    assert [finding.diagnosis for finding in played(blocks["python before"], tmp_path, "fake")] == [name]
    assert played(blocks["python after"], tmp_path, "fake") == []
