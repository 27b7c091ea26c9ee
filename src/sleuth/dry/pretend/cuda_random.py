"""The random numbers of the cards: drawn on the CPU, with a state of their own to save and restore."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.pretend.devices import CPU

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# As long as the state of a card's own generator: seed and offset.
_STATE_BYTES = 16


def install(stage: Stage) -> None:
    seeds: dict[str, int] = {}

    def label(device: Any = "cuda") -> str:
        return stage.devices.label("cuda" if device is None else device)

    def manual_seed(seed: int) -> None:
        seeds[label()] = int(seed)

    def manual_seed_all(seed: int) -> None:
        for index in range(stage.devices.count):
            seeds[label(index)] = int(seed)

    def get_rng_state(device: Any = "cuda") -> torch.Tensor:
        number = seeds.get(label(device), 0) % (1 << 64)
        return torch.tensor([*number.to_bytes(8, "little"), *bytes(8)], dtype=torch.uint8, device=CPU)

    def set_rng_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
        where = label(device)
        if new_state.dtype != torch.uint8 or stage.mode.shown_label(new_state) != CPU:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if new_state.numel() != _STATE_BYTES:
            raise RuntimeError("RNG state is wrong size")
        if not stage.fake:
            seeds[where] = int.from_bytes(bytes(new_state[:8].tolist()), "little")

    def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
        for index, state in enumerate(new_states):
            set_rng_state(state, index)

    answers: dict[str, Any] = {
        "manual_seed": manual_seed,
        "manual_seed_all": manual_seed_all,
        "seed": lambda: manual_seed(torch.initial_seed()),
        "seed_all": lambda: manual_seed_all(torch.initial_seed()),
        "initial_seed": lambda: seeds.get(label(), 0),
        "get_rng_state": get_rng_state,
        "get_rng_state_all": lambda: [get_rng_state(index) for index in range(stage.devices.count)],
        "set_rng_state": set_rng_state,
        "set_rng_state_all": set_rng_state_all,
    }
    for owner in (torch.cuda, torch.cuda.random):
        for name, answer in answers.items():
            stage.patches.set(owner, name, answer)
