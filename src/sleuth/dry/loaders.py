"""DataLoaders deal the first batches and the last, in this process."""

from __future__ import annotations

import contextlib
import dis
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader, IterableDataset

from sleuth.dry.births import users_line
from sleuth.dry.pace import Pace, length
from sleuth.dry.pretend.devices import CPU
from sleuth.dry.tensors import tensors_in
from sleuth.frameworks import torch_private
from sleuth.program import is_users, place_of

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_Fetcher = torch_private.get("torch.utils.data._utils.fetch._MapDatasetFetcher")

# Where the sampler has more batches than this, nobody waits for its last.
_LONGEST = 2_000_000


@dataclass(frozen=True, slots=True)
class Dealt:
    """The batch that was dealt last."""

    number: int
    size: int
    usual: int
    samples: int | None
    is_last: bool
    # Which of the data set it holds, where they have numbers.
    drawn: tuple[int, ...] = ()


def install(stage: Stage) -> None:
    plain_init, plain_iter = DataLoader.__init__, DataLoader.__iter__

    def init(loader: Any, *args: Any, **kwargs: Any) -> None:
        for name, without in _ALONE.items():
            if name in kwargs:
                kwargs[name] = without
        given = list(args)
        for position, name in ((5, "num_workers"), (7, "pin_memory"), (9, "timeout"), (11, "multiprocessing_context")):
            if len(given) > position:
                given[position] = _ALONE[name]
        plain_init(loader, *given, **kwargs)

    def iterate(loader: Any) -> Iterator[Any]:
        where = users_line(sys._getframe(1))
        if isinstance(loader.dataset, IterableDataset) or loader.batch_sampler is None or _Fetcher is None:
            return _paced(stage, iter(plain_iter(loader)), where)
        return _dealt(stage, loader, where)

    stage.patches.set(DataLoader, "__init__", init)
    stage.patches.set(DataLoader, "__iter__", iterate)


_ALONE: dict[str, Any] = {
    "num_workers": 0,
    "pin_memory": False,
    "timeout": 0,
    "multiprocessing_context": None,
    "persistent_workers": False,
    "prefetch_factor": None,
}


def _paced(stage: Stage, batches: Iterator[Any], where: tuple[Any, int]) -> Iterator[Any]:
    """Batches that come one after the other: as many as it takes."""
    pace = Pace(stage, of_batches=True)
    while True:
        with _for_real(stage):
            batch = next(batches, _END)
        if batch is _END:
            return
        _count(stage, sys._getframe(1))
        _settled(stage, batch, where)
        yield batch
        pace.round_done()
        if pace.enough() and not _asked_by_hand(sys._getframe(1)):
            _say(stage, where, pace.rounds, None)
            return


_END = object()


def _dealt(stage: Stage, loader: Any, where: tuple[Any, int]) -> Iterator[Any]:
    """Batches whose samples are known beforehand: as many as it takes, and the last."""
    fetcher = _Fetcher(loader.dataset, True, loader.collate_fn, loader.drop_last)
    with _for_real(stage):
        plan = iter(_plan(stage, loader))
    pace = Pace(stage, of_batches=True)
    usual = 0
    for number, samples in enumerate(plan):
        rest: deque[Any] = deque(maxlen=1)
        enough = pace.enough() and not _asked_by_hand(sys._getframe(1))
        if enough:
            rest.extend(_counted(plan))
        last = rest.pop() if rest else samples
        skipped = last is not samples
        usual = usual or _usual(stage, loader) or len(samples)
        with _for_real(stage):
            batch = fetcher.fetch(last)
        is_last = skipped or enough or number + 1 == length(loader)
        _count(stage, sys._getframe(1))
        stage.dealt = Dealt(number, len(last), usual, _samples(loader), is_last, _drawn(last))
        _settled(stage, batch, where)
        yield batch
        pace.round_done()
        if skipped:
            _say(stage, where, pace.rounds, length(loader))
            stage.shortened |= {count for count in (length(loader), _samples(loader)) if count is not None}
            return


def _count(stage: Stage, frame: FrameType | None) -> None:
    stage.acts["batch"] += 1
    stage.acts["batch by hand"] += _asked_by_hand(frame)


def _asked_by_hand(frame: FrameType | None) -> bool:
    """`next(batches)` in the program's own code, which may count on there being so many."""
    if frame is None or not is_users(frame.f_code.co_filename):
        return False
    return "CALL" in dis.opname[frame.f_code.co_code[frame.f_lasti]]


def _counted(plan: Iterator[Any]) -> Iterator[Any]:
    for number, one in enumerate(plan):
        if number > _LONGEST:
            return
        yield one


def _plan(stage: Stage, loader: Any) -> Iterator[list[Any]]:
    """The samples of each batch, of another size where the scenario says so."""
    size = stage.scenario.batch
    if not size or (size == 1 and loader.drop_last):  # which never deals a single sample
        yield from loader.batch_sampler
        return
    gathered: list[Any] = []
    dealt = False
    for samples in loader.batch_sampler:
        gathered += samples
        while len(gathered) >= size:
            dealt = True
            yield gathered[:size]
            gathered = gathered[size:]
    if gathered and not dealt:
        # A data set smaller than the batch asked for: its samples again.
        yield (gathered * -(-size // len(gathered)))[:size]
    elif gathered and not loader.drop_last:
        yield gathered


def _usual(stage: Stage, loader: Any) -> int:
    """The program's own batch size, where the scenario wants another."""
    return getattr(loader.batch_sampler, "batch_size", 0) if stage.scenario.batch else 0


def _drawn(samples: Any) -> tuple[int, ...]:
    numbered = isinstance(samples, list | tuple) and all(type(one) is int for one in samples)
    return tuple(samples) if numbered else ()


def _samples(loader: Any) -> int | None:
    try:
        return len(loader.sampler)
    except (TypeError, AttributeError, LookupError):  # Keras has one that looks for a first array in a dictionary
        return None


def _settled(stage: Stage, batch: Any, where: tuple[Any, int]) -> None:
    for tensor in tensors_in(batch):
        birth = stage.mode.birth(tensor)
        birth.operation, birth.parents, birth.device = "DataLoader", (), birth.device or CPU
        birth.code, birth.instruction = where


def _say(stage: Stage, where: tuple[Any, int], rounds: int, total: int | None) -> None:
    if total is not None and rounds >= total:
        return
    of = f" of {total:,}" if total is not None else ""
    code, instruction = where
    stage.journal.assume(None if code is None else place_of(code, instruction), f"DataLoader: {rounds} batches{of}")


def _for_real(stage: Stage) -> Any:
    """Data are loaded with their real numbers."""
    if not stage.fake:
        return contextlib.nullcontext()
    from sleuth.dry.fake import engine

    return engine.data_loaded(stage)
