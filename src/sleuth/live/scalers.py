"""Gradient scalers: when one skips a step because that is its job, and when it never will do anything else."""

from __future__ import annotations

from typing import Any

from sleuth.live.sentinel import is_bad

# A loss does not depend on the scale of its gradients: when it is not finite this many times on end, no smaller scale
# will mend it.
BAD_LOSSES = 3
# Reading a scale on an accelerator waits for it, so there it is read only now and then.
UPDATES_BETWEEN_READINGS = 64


class Scalers:
    """What the scaler in use has been through."""

    def __init__(self) -> None:
        self.in_use = False
        self.bad_losses = 0
        self._updates = 0

    def heard(self, loss: float) -> None:
        self.bad_losses = self.bad_losses + 1 if is_bad(loss) else 0

    def hopeless(self, scaler: Any) -> float | None:
        """The scale, where this update follows a skipped step and no smaller scale will help."""
        self._updates += 1
        if not scaler.is_enabled() or scaler._scale is None:
            return None
        if scaler._scale.device.type != "cpu" and self._updates % UPDATES_BETWEEN_READINGS:
            return None
        states = scaler._per_optimizer_states.values()
        skipped = any(bool(found) for state in states for found in state["found_inf_per_device"].values())
        scale = float(scaler.get_scale())
        return scale if skipped and (scale <= 1.0 or self.bad_losses >= BAD_LOSSES) else None
