"""`with sleuth.watch():` — the live engine from code and in notebooks, its report printed at the end of the block."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from sleuth.findings import Report
from sleuth.integrations import showing
from sleuth.live import EXPERIMENTS, Watch
from sleuth.live.record import Record


def watch(
    *,
    keep_going: bool = False,
    ignore: Collection[str] = (),
    experiments: float = EXPERIMENTS,
    record: str | Path | None = None,
) -> Watch:
    """Watch the training inside a `with` block or a decorated function. See sleuth.live.Watch.

    `experiments` is how many seconds experiments on a copy of the model may take, when training goes badly. `record` is
    the folder under which the run is recorded for `sleuth view`, as `sleuth run` does with ".sleuth"."""
    book = None if record is None else Record(Path(record), "<python>")
    showing.known_to_notebook()
    return Watch(
        keep_going=keep_going,
        ignore=ignore,
        experiments=experiments,
        record=book,
        show=_print,
        all_is_well=showing.say_all_is_well,
        says_unseen=True,
    )


def _print(found: Report) -> None:
    showing.show(found, sys.stdout)
