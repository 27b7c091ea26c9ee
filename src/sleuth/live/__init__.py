"""The live engine: watches a real run of the user's program."""

from __future__ import annotations

from sleuth.live.exits import say_if_it_trains_on
from sleuth.live.expectations import CannotExpect
from sleuth.live.run import run
from sleuth.live.sight import Watched
from sleuth.live.tensorboard import NoTensorBoard
from sleuth.live.watch import EXPERIMENTS, Watch

__all__ = ["EXPERIMENTS", "CannotExpect", "NoTensorBoard", "Watch", "Watched", "run", "say_if_it_trains_on"]
