"""What the model says of one sample depends on that sample alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sleuth.testing import wording
from sleuth.testing.given import called, checked_model, copied_model, fresh, mapped, named_tensors, passed
from sleuth.testing.undisturbed import undisturbed

if TYPE_CHECKING:
    from torch import Tensor, nn

    from sleuth.testing.calls import Call

# Of a large batch some samples are tried, from its beginning to its end.
_MOST_SAMPLES = 8
# Less than this share of the output's size, or of a sample's gradient with respect to itself, is rounding.
_ROUNDING = 1e-5
_SEED = 0


def assert_batch_independent(model: nn.Module, inputs: Any, dim: int = 0, train: bool = False) -> None:
    """The output of a sample does not change with the other samples of its batch. `dim` is where samples are counted.

    Tried in evaluation mode, or with `train=True` in training mode, where BatchNorm mixes samples by design. Both by
    changing one sample at a time and by the gradient of each output with respect to the other samples."""
    __tracebackhide__ = True
    checked_model(model)
    with undisturbed():
        failure = _failure(_Trial(model, inputs, dim, train))
    if failure is not None:
        raise AssertionError(failure)


class _Trial:
    def __init__(self, model: Any, inputs: Any, dim: int, train: bool) -> None:
        self.model, _ = copied_model(model)
        self.model.train(train)
        self.inputs, self.dim, self.train = inputs, dim, train
        self.count = _batch_size(inputs, dim)
        self.samples = _spread(self.count)
        self._buffers = [buffer.detach().clone() for buffer in self.model.buffers()]

    def run(self, inputs: Any) -> Any:
        """From the same random numbers and buffers every time, so that dropout is the same too."""
        import torch

        with torch.no_grad():
            for buffer, first in zip(self.model.buffers(), self._buffers, strict=True):
                buffer.copy_(first)
        torch.manual_seed(_SEED)
        return called(self.model, inputs)

    def of_batch(self, outputs: Any) -> list[tuple[str, Tensor]]:
        """The outputs that have a row for every sample."""
        return [(name, tensor) for name, tensor in named_tensors(outputs) if self._counts_samples(tensor)]

    def _counts_samples(self, tensor: Tensor) -> bool:
        return -tensor.dim() <= self.dim < tensor.dim() and tensor.shape[self.dim] == self.count

    def with_another(self, sample: int, size: float = 1.0) -> Any:
        """The inputs, with this one sample replaced by something else of its kind."""
        import torch

        generator = torch.Generator().manual_seed(_SEED)

        def changed(tensor: Tensor) -> Tensor:
            if not self._counts_samples(tensor):
                return tensor
            result = tensor.detach().clone()
            rows = result.movedim(self.dim, 0)
            if tensor.is_floating_point() or tensor.is_complex():
                noise = torch.randn(rows[sample].shape, generator=generator).to(rows)
                spread = float(rows.abs().std()) if rows.numel() > 1 else 1.0
                rows[sample] = rows[sample] + size * (spread or 1.0) * noise
            else:
                others = (row for row in rows if not torch.equal(row, rows[sample]))
                rows[sample] = next(others, rows[sample]).clone()
            return result

        return mapped(changed, self.inputs)


def _batch_size(inputs: Any, dim: int) -> int:
    for name, tensor in named_tensors(inputs, "inputs"):
        if not -tensor.dim() <= dim < tensor.dim():
            raise ValueError(f"{name} has the shape {tuple(tensor.shape)}, and no dimension {dim} to count samples in")
        if tensor.shape[dim] < 2:
            raise ValueError(
                f"{name} has {wording.counted(tensor.shape[dim], 'sample')} in dimension {dim} "
                f"(shape {tuple(tensor.shape)}); at least 2 are needed to see whether they mix"
            )
        return int(tensor.shape[dim])
    raise TypeError("the inputs hold no tensor")


def _spread(count: int) -> list[int]:
    if count <= _MOST_SAMPLES:
        return list(range(count))
    return sorted({round(i * (count - 1) / (_MOST_SAMPLES - 1)) for i in range(_MOST_SAMPLES)})


def _failure(trial: _Trial) -> str | None:
    base = trial.run(trial.inputs)
    rows = trial.of_batch(base)
    if not rows:
        shapes = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in named_tensors(base)) or "no tensor"
        raise ValueError(
            f"no output of the model has {trial.count} samples in dimension {trial.dim}: it gives {shapes}"
        )
    again = trial.of_batch(trial.run(trial.inputs))
    if any(bool(_differ(one, other).any()) for (_, one), (_, other) in zip(rows, again, strict=True)):
        raise ValueError(
            "the model gives different outputs for the same inputs and seed, so nothing can be said about its samples: "
            "see assert_deterministic first"
        )
    leak = _leak_by_change(trial, rows) or _leak_by_gradient(trial)
    return None if leak is None else _message(trial, *leak)


def _differ(one: Tensor, other: Tensor) -> Tensor:
    """Where two tensors differ by more than rounding; NaN is like NaN."""
    if not (one.is_floating_point() or one.is_complex()):
        return one != other
    one, other = one.detach(), other.detach()
    both_nan = (one != one) & (other != other)
    finite = one[one.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    return ~((one - other).abs() <= _ROUNDING * scale) & ~both_nan & (one != other)


def _leak_by_change(trial: _Trial, base: list[tuple[str, Tensor]]) -> tuple[int, list[int], str] | None:
    for sample in trial.samples:
        changed = trial.of_batch(trial.run(trial.with_another(sample)))
        for (name, before), (_, after) in zip(base, changed, strict=True):
            differ = _differ(before, after)
            into = _rows_of(differ, trial.dim, sample)
            if into:
                row = before.movedim(trial.dim, 0)[into[0]], after.movedim(trial.dim, 0)[into[0]]
                by = float((row[0].detach().double() - row[1].detach().double()).abs().max())
                size = float(row[0].detach().double().abs().max())
                return sample, into, f"{name} of sample {into[0]} moves by {by:.3g} (it was up to {size:.3g})"
    return None


def _rows_of(differ: Tensor, dim: int, sample: int) -> list[int]:
    rows = differ.movedim(dim, 0).reshape(differ.shape[dim], -1).any(1)
    return [int(row) for row in rows.nonzero().flatten() if int(row) != sample]


def _leak_by_gradient(trial: _Trial) -> tuple[int, list[int], str] | None:
    import torch

    inputs = mapped(lambda t: t.detach().clone().requires_grad_(t.is_floating_point()), fresh(trial.inputs))
    leaves = [t for _, t in named_tensors(inputs) if t.requires_grad and trial._counts_samples(t)]
    if not leaves:
        return None
    torch.manual_seed(_SEED)
    # The model gets the leaves themselves, one step removed: it may write into what it is given.
    outputs = trial.of_batch(passed(trial.model, mapped(lambda t: t.clone() if t.requires_grad else t, inputs)))
    for sample in trial.samples:
        for name, tensor in outputs:
            if not tensor.requires_grad:
                continue
            row = tensor.movedim(trial.dim, 0)[sample]
            weights = torch.linspace(0.5, 1.5, row.numel(), device=row.device).reshape(row.shape).to(row.dtype)
            gradients = torch.autograd.grad((row * weights).sum(), leaves, retain_graph=True, allow_unused=True)
            for gradient in gradients:
                if gradient is None:
                    continue
                sizes = gradient.movedim(trial.dim, 0).reshape(trial.count, -1).abs().amax(1)
                loud = (sizes > _ROUNDING * float(sizes.max())).nonzero().flatten()
                whence = [int(i) for i in loud if int(i) != sample]
                if whence:
                    own, other = float(sizes[sample]), float(sizes[whence[0]])
                    return (
                        whence[0],
                        [sample],
                        f"the gradient of {name} of sample {sample} is {other:.3g} with respect to sample {whence[0]}, "
                        f"{own:.3g} with respect to itself",
                    )
    return None


def _message(trial: _Trial, sample: int, into: list[int], seen: str) -> str:
    mixer, torn = _first_mixer(trial, sample)
    samples = f"sample{'s' * (len(into) > 1)} {wording.listed([str(i) for i in into])}"
    mode = "training" if trial.train else "evaluation"
    why = [
        f"in {mode} mode, with {trial.count} samples in dimension {trial.dim}: when sample {sample} is replaced, {seen}"
        if "moves by" in seen
        else f"in {mode} mode: {seen}"
    ]
    change = []
    if mixer is not None:
        why.append(f"the first call that mixes the samples is {mixer.says}")
        change = [_advice(mixer, torn, trial)]
    else:
        change = ["look for an operation over the batch dimension: a softmax, a mean, a norm, a reshape"]
    return wording.message(
        f"the samples of a batch are not independent: sample {sample} leaks into {samples}", why, change
    )


def _first_mixer(trial: _Trial, sample: int) -> tuple[Call | None, bool]:
    """The call where the change of one sample first reaches another, and whether it tears samples apart rather than
    adding them up."""
    from sleuth.live.learning.inspection import VIEWS
    from sleuth.testing.calls import recorded, side_by_side

    changed = trial.with_another(sample, size=10.0)
    with recorded(trial.model) as one:
        behind = one.behind([tensor for _, tensor in trial.of_batch(trial.run(trial.inputs))])
    with recorded(trial.model) as other:
        trial.run(changed)
    torn: Call | None = None
    for first, second in side_by_side(one.calls, other.calls):
        if first.number not in behind:
            continue
        differ = [_differ(a, b) for a, b in zip(first.outputs, second.outputs, strict=True)]
        if not any(bool(d.any()) for d in differ):
            continue
        if all(_confined(d, sample, trial.count) for d in differ):
            torn = None
        elif first.name in VIEWS:
            torn = torn or first
        else:
            return (torn, True) if torn is not None else (first, False)
    return torn, torn is not None


def _confined(differ: Tensor, sample: int, count: int) -> bool:
    """Do all changes lie within one sample, in whichever dimension samples are counted here, alone or merged with
    another dimension?"""
    for dim, size in enumerate(differ.shape):
        if size % count:
            continue
        along = differ.movedim(dim, 0).reshape(size, -1).any(1)
        ways: list[Callable[[], Any]] = [
            lambda along=along: along.reshape(count, -1).any(1),  # type: ignore[misc]
            lambda along=along: along.reshape(-1, count).any(0),  # type: ignore[misc]
        ]
        if any(set(way().nonzero().flatten().tolist()) <= {sample} for way in ways):
            return True
    return False


def _advice(mixer: Call, torn: bool, trial: _Trial) -> str:
    if torn:
        return (
            "a view or reshape keeps the order of the numbers in memory, so this one hands parts of one sample to "
            "another: keep the batch dimension where it is, and use transpose() or permute() to swap dimensions"
        )
    if "BatchNorm" in mixer.kind or mixer.name in ("batch_norm", "instance_norm"):
        mode = " (it does so in training mode only)" if trial.train else ""
        return (
            f"BatchNorm in training mode takes mean and variance over the whole batch{mode}: that is what it is for. "
            "Ask without train=True, call eval(), or use GroupNorm or LayerNorm if samples must stay apart"
        )
    if mixer.name in ("softmax", "log_softmax", "softmin", "normalize"):
        return f"{mixer.name} over dimension {mixer.dim} goes over the samples: take that of the classes, dim=-1"
    if "attention" in mixer.name or mixer.name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        return (
            f"{mixer.kind or mixer.name} reads dimension 0 as the sequence unless batch_first=True: say so when making "
            "it, or give it (sequence, batch, features) and ask with dim=1"
        )
    return f"let {mixer.name} work within a sample: name the dimension it should run over, and not the batch's"
