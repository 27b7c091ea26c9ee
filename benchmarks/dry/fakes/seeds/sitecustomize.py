"""Seeds what a script leaves unseeded, so that two runs of it can be compared.

Python imports this file at its start when its folder is on PYTHONPATH."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

sys.path.append(str(Path(__file__).parents[1]))

from changing import Changing

sys.path.pop()

SEED = 0
SEEDED: dict[str, Callable[[ModuleType], None]] = {
    "numpy": lambda module: module.random.seed(SEED),
    "torch": lambda module: module.manual_seed(SEED),
    "tensorflow": lambda module: module.random.set_seed(SEED),
}

random.seed(SEED)
sys.meta_path.insert(0, Changing(SEEDED))
