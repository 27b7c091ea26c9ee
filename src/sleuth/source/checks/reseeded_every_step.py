"""The same random seed set anew in every training step."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace

_SEEDS = (
    "torch.manual_seed",
    "torch.random.manual_seed",
    "lightning.seed_everything",
    "transformers.set_seed",
    "accelerate.utils.set_seed",
)


def trace(trace: Trace) -> Iterator[Finding]:
    seeds = [step for step in trace.of("manual_seed", "seed_everything", "set_seed") if step.site.name in _SEEDS]
    for seed in seeds:
        if not seed.loops or not seed.site.args or any(one is not seed and one.loops == seed.loops for one in seeds):
            continue
        loop, value = seed.loops[-1], seed.site.args[0]
        if value.number() is None and training.depends_on_round(value, loop, seed.site.spot.file):
            continue
        if value.kind == "?" and not value.op.startswith(("param:", "attr:")):
            continue
        step = next((one for one in trace.of("step") if _is_the_round_of(one, seed)), None)
        if step is None or _starts_over(trace, step, seed):
            continue
        yield tell.found(
            "reseeded-every-step",
            seed.site,
            certainty="likely",
            severity="warning",
            chain=[
                tell.because(seed.node, "every round starts from the same random numbers", seed.site.spot.file),
                tell.because(step.node, "dropout, noise and sampling repeat at each step", step.site.spot.file),
            ],
            fixes=[Fix("set the seed once, before the loop")],
        )


def _is_the_round_of(step: Step, seed: Step) -> bool:
    return training.optimizer_of(step) is not None and step.loops == seed.loops and training.implies(step, seed)


def _starts_over(trace: Trace, step: Step, seed: Step) -> bool:
    """A network made after the seed in the same loop: an experiment repeated, not a step."""
    optimizer = training.optimizer_of(step)
    made_here = optimizer is not None and optimizer.loop == id(seed.loops[-1])
    return made_here or not any(one.act in training.BACKWARD for one in trace.within(seed.loops[-1]))
