"""Bytes on the card: exact for models small enough to reckon by hand, the same with fake numbers as with real."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.optim import optimizer  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from sleuth.dry import journal  # noqa: E402
from sleuth.dry.memory import meter  # noqa: E402
from sleuth.dry.scenario import Scenario  # noqa: E402
from sleuth.dry.stage import Stage  # noqa: E402

NUMBERS = ["real", "fake"]
WEIGHTS = 1000 * 1000 * 4 + 256  # rounded up to whole blocks of 512 bytes
BATCH = 64 * 1000 * 4
CARD = "cuda:0"
Optimiser = Callable[[Any], torch.optim.Optimizer]


class Counted:
    """A stage on which only the meter is set up: everything takes place on one card."""

    def __init__(self, folder: Path, numbers: str, **scenario: Any) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / f"{numbers}.journal"
        self.numbers = numbers
        self.stage = Stage(Scenario("train.py", numbers=numbers, **scenario), journal.Journal(self.path), folder)
        self.stage.now_on = CARD

    @contextlib.contextmanager
    def on(self) -> Iterator[Stage]:
        fake = FakeTensorMode() if self.numbers == "fake" else contextlib.nullcontext()
        try:
            with fake, meter.counted(self.stage):
                yield self.stage
        finally:
            self.stage.patches.undo()
            self.stage.journal.close()

    @property
    def outcome(self) -> journal.Outcome:
        return journal.read(self.path)

    @property
    def memory(self) -> dict[str, Any]:
        return self.outcome.notes["memory"]

    @property
    def card(self) -> dict[str, Any]:
        about: dict[str, Any] = self.memory["devices"][CARD]
        return about


def train_linear(optimiser: Optimiser, steps: int = 3) -> None:
    model = nn.Linear(1000, 1000, bias=False)
    inputs = torch.randn(64, 1000)
    trained_by = optimiser(model.parameters())
    for _ in range(steps):
        trained_by.zero_grad()
        model(inputs).relu().square().mean().backward()
        trained_by.step()


def plain_sgd(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1, foreach=False)


def momentum(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, foreach=False)


def adam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, foreach=False)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_plain_sgd_holds_weights_and_gradients(tmp_path: Path, numbers: str) -> None:
    run = Counted(tmp_path, numbers)
    with run.on():
        train_linear(plain_sgd)
    kinds = run.card["kinds"]
    assert kinds["weights"] == kinds["gradients"] == WEIGHTS
    assert kinds["optimiser state"] == 0
    assert kinds["data"] == BATCH
    assert sum(kinds.values()) == run.card["peak"]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_momentum_holds_one_number_a_weight(tmp_path: Path, numbers: str) -> None:
    run = Counted(tmp_path, numbers)
    with run.on():
        train_linear(momentum)
    assert run.card["kinds"]["optimiser state"] == WEIGHTS


@pytest.mark.parametrize("numbers", NUMBERS)
def test_adam_holds_two_numbers_a_weight_and_its_step(tmp_path: Path, numbers: str) -> None:
    run = Counted(tmp_path, numbers)
    with run.on():
        train_linear(adam)
    kinds = run.card["kinds"]
    assert kinds["optimiser state"] == 2 * WEIGHTS + 512
    assert kinds["weights"] == kinds["gradients"] == WEIGHTS


def test_one_step_is_not_enough_for_the_optimiser_state_to_meet_the_activations(tmp_path: Path) -> None:
    peaks = []
    for steps in (1, 2):
        run = Counted(tmp_path / str(steps), "fake")
        with run.on():
            train_linear(momentum, steps)
        peaks.append(run.card["peak"])
    assert peaks[0] < peaks[1]


def deep(widths: int = 512, layers: int = 16) -> nn.Sequential:
    return nn.Sequential(*(nn.Sequential(nn.Linear(widths, widths), nn.Tanh()) for _ in range(layers)))


def held_by_the_forward_pass(folder: Path, forward: Callable[[nn.Sequential, Any], Any]) -> int:
    run = Counted(folder, "fake")
    with run.on():
        model = deep()
        trained_by = plain_sgd(model.parameters())
        for _ in range(2):
            trained_by.zero_grad()
            forward(model, torch.randn(4096, 512, requires_grad=True)).mean().backward()
            trained_by.step()
    return int(run.card["kinds"]["activations"])


def test_checkpointing_lowers_the_activations(tmp_path: Path) -> None:
    def checkpointed(model: nn.Sequential, inputs: Any) -> Any:
        for start in range(0, len(model), 4):
            inputs = checkpoint(model[start : start + 4], inputs, use_reentrant=False)
        return inputs

    plain = held_by_the_forward_pass(tmp_path / "plain", lambda model, inputs: model(inputs))
    less = held_by_the_forward_pass(tmp_path / "checkpointed", checkpointed)
    block = 4096 * 512 * 4
    assert 16 * block <= plain < 17 * block  # every Tanh's output, which the next Linear needs too
    assert 6 * block <= less < 9 * block  # what each of four stretches ends in, and one stretch in full


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout(0.1)
        )
        self.attention = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.head = nn.Linear(16, 10)

    def forward(self, images: Any) -> Any:
        tokens = self.body(images).flatten(2).transpose(1, 2)
        return self.head(self.attention(tokens).mean(1))


def train_small(before_each: Callable[[], object] = lambda: None, steps: int = 2) -> None:
    torch.manual_seed(0)
    model = Small()
    trained_by = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(steps):
        before_each()
        images, labels = torch.randn(16, 3, 32, 32), torch.zeros(16, dtype=torch.long)
        loss = functional.cross_entropy(model(images), labels)
        trained_by.zero_grad()
        loss.backward()
        trained_by.step()


def test_fake_numbers_count_as_real_ones_do(tmp_path: Path) -> None:
    told = []
    for numbers in NUMBERS:
        run = Counted(tmp_path, numbers)
        with run.on():
            train_small()
        told.append({**run.memory, "numbers": ""})
    assert told[0] == told[1]


def storages_in_the_process() -> int:
    """The bytes of all tensors there are, found without any help of the meter."""
    gc.collect()
    sizes = {}
    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor) and type(thing) in (torch.Tensor, nn.Parameter):
            storage = thing.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


def test_what_is_held_after_a_step_is_what_the_process_has(tmp_path: Path) -> None:
    before = storages_in_the_process()
    run = Counted(tmp_path, "real")
    with run.on() as stage:
        torch.manual_seed(0)
        model = Small()
        trained_by = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for _ in range(2):
            loss = functional.cross_entropy(model(torch.randn(256, 3, 32, 32)), torch.zeros(256, dtype=torch.long))
            loss.backward()
            trained_by.step()
        moments = next(one for one in stage.watchers if isinstance(one, meter.Moments))
        held = moments.meter.ledger.memories[CARD].held
        really = storages_in_the_process() - before
    blocks = (
        512 * 4 * len(list(model.parameters()))
    )  # a weight, its gradient and two numbers of Adam's, each rounded up
    assert really <= held <= really + blocks + 16_384


def test_the_peak_is_that_of_torchs_own_tracker_within_five_per_cent(tmp_path: Path) -> None:
    tracker = pytest.importorskip("torch.distributed._tools.mem_tracker")
    theirs = tracker.MemTracker()
    run = Counted(tmp_path, "real")
    # Without what the meter makes the CPU hold, so that both count the same.
    with run.on() as stage:
        stage.patches.undo()
        train_small()
    with theirs:
        train_small(theirs.reset_mod_stats)
    peak = max(snapshot[tracker._TOTAL_KEY] for snapshot in theirs.get_tracker_snapshot("peak").values())
    assert run.card["peak"] == pytest.approx(peak, rel=0.05)


def test_floating_point_operations_are_those_of_torchs_own_counter(tmp_path: Path) -> None:
    def train() -> None:
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 30 * 30, 10))
        trained_by = plain_sgd(model.parameters())
        model(torch.randn(4, 3, 32, 32)).sum().backward()
        trained_by.step()

    run = Counted(tmp_path, "fake")
    with run.on():
        train()
    counter = FlopCounterMode(display=False)
    with counter:
        train()
    assert run.memory["flops"] == counter.get_total_flops() > 0


def test_attention_is_counted_too(tmp_path: Path) -> None:
    run = Counted(tmp_path, "fake")
    with run.on():
        query = torch.randn(2, 4, 128, 16)
        functional.scaled_dot_product_attention(query, query, query)
    assert run.memory["flops"] == 2 * (2 * 2 * 4 * 128 * 128 * 16)


def test_evaluation_does_not_count_as_training(tmp_path: Path) -> None:
    run = Counted(tmp_path, "fake")
    with run.on():
        model, inputs = nn.Linear(100, 100, bias=False), torch.randn(10, 100)
        trained_by = plain_sgd(model.parameters())
        for _ in range(2):
            model(inputs).sum().backward()
            trained_by.step()
            with torch.no_grad():
                model(inputs)
    assert run.memory["flops"] == 2 * 2 * 10 * 100 * 100


def test_the_line_that_holds_most_is_named(tmp_path: Path) -> None:
    run = Counted(tmp_path, "fake")
    with run.on():
        model = nn.Linear(10, 4000)
        loss = model(torch.randn(2000, 10)).tanh().exp().tanh().exp().mean()
        loss.backward()
    first = run.card["lines"][0]
    assert "exp()" in first["place"]["code"]
    assert first["kind"] == "activations"
    assert first["place"]["path"].endswith("test_memory.py")


def test_what_is_kept_across_steps_by_mistake_is_counted(tmp_path: Path) -> None:
    peaks = []
    for detach in (True, False):
        run = Counted(tmp_path / str(detach), "fake")
        with run.on():
            model, total = nn.Linear(100, 100), torch.zeros(())
            for _ in range(8):
                loss = model(torch.randn(1000, 100)).tanh().mean()
                loss.backward(retain_graph=not detach)
                total = total + (loss.detach() if detach else loss)
        peaks.append(run.card["peak"])
    assert peaks[1] > 3 * peaks[0]


def test_attention_with_dropout_is_not_written_down_as_a_matrix(tmp_path: Path) -> None:
    run = Counted(tmp_path, "fake")
    with run.on():
        query = torch.randn(1, 8, 2048, 64, requires_grad=True)
        functional.scaled_dot_product_attention(query, query, query, dropout_p=0.1).sum().backward()
    assert run.card["peak"] < 8 * 2048 * 2048 * 4  # the matrix of attention


def test_dropout_keeps_a_byte_an_element(tmp_path: Path) -> None:
    run = Counted(tmp_path, "fake")
    with run.on():
        inputs = torch.randn(1024, 1024, requires_grad=True)
        functional.dropout(inputs, 0.5)
    assert run.card["peak"] == (4 + 4 + 1) * 1024 * 1024


def test_the_notes_are_on_disk_after_the_first_step(tmp_path: Path) -> None:
    run = Counted(tmp_path, "fake")
    with run.on():
        train_linear(plain_sgd, 1)
        assert run.memory["steps"] == 1


def test_a_full_card_is_on_disk_when_the_forward_pass_ends(tmp_path: Path) -> None:
    run = Counted(tmp_path, "fake", card_bytes=600 << 20)
    with run.on():
        nn.Sequential(nn.Linear(10, 1000), nn.ReLU())(torch.randn(100_000, 10))
        assert "ReLU" in run.card["full at"]["code"]
    (finding,) = run.outcome.findings
    assert finding.diagnosis == "does-not-fit-the-card"


def test_nothing_of_it_stays_behind(tmp_path: Path) -> None:
    plain = functional.scaled_dot_product_attention
    dropout = torch._VF.dropout
    with Counted(tmp_path, "fake").on():
        assert functional.scaled_dot_product_attention is not plain
    assert functional.scaled_dot_product_attention is plain
    assert torch._VF.dropout == dropout
    assert not torch.nn.modules.module._global_forward_hooks
    assert not torch.nn.modules.module._global_forward_pre_hooks
    assert not optimizer._global_optimizer_pre_hooks


def test_a_forward_that_raises_is_left_behind(tmp_path: Path) -> None:
    run = Counted(tmp_path, "fake")
    with run.on() as stage:
        with contextlib.suppress(RuntimeError):
            nn.Sequential(nn.Linear(3, 4), nn.Linear(3, 4))(torch.randn(2, 3))
        moments = next(one for one in stage.watchers if isinstance(one, meter.Moments))
        assert moments.meter.forwards == 0
