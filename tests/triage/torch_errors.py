"""Small programs that each make one error of torch happen, by the name of the signature that must know its message."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

Raises = Callable[[], Any]


def _leaf() -> torch.Tensor:
    return torch.ones(3, requires_grad=True)


def _twice() -> None:
    loss = (_leaf() ** 2).sum()
    loss.backward()
    loss.backward()


def _changed_in_place() -> None:
    root = torch.sigmoid(_leaf())
    root += 1
    root.sum().backward()


def _view_changed_in_place() -> None:
    x = _leaf().clone()
    first, _, _ = x.unbind()
    first.mul_(2)
    first.sum().backward()


def _without_super() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    Net()


def _no_forward() -> None:
    class Net(nn.Module):
        pass

    Net()(torch.ones(1))


def _saved(what: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(what, file)
    file.seek(0)
    return torch.load(file, **options)


def _cut_short() -> None:
    file = io.BytesIO()
    torch.save(torch.ones(9), file)
    torch.load(io.BytesIO(file.getvalue()[:-40]))


def _other_sizes() -> None:
    nn.Linear(3, 2).load_state_dict(nn.Linear(4, 2).state_dict())


def _other_names() -> None:
    nn.Linear(3, 2).load_state_dict({"module.weight": torch.ones(2, 3), "module.bias": torch.ones(2)})


def _groups_of_optimizer() -> None:
    first, second = nn.Linear(3, 2), nn.Linear(3, 2, bias=False)
    torch.optim.Adam(second.parameters()).load_state_dict(torch.optim.Adam(first.parameters()).state_dict())


def _parameter_twice() -> None:
    weight = nn.Parameter(torch.ones(1))
    torch.optim.SGD([{"params": [weight]}, {"params": [weight]}], lr=0.1)


def _unscaled_twice() -> None:
    scaler = torch.amp.GradScaler("cpu")
    weight = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler.scale((weight * 2).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)


def _nothing_unscaled() -> None:
    scaler = torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)
    scaler.scale(torch.ones(1))
    scaler.step(optimizer)
    scaler.update()


def _anomaly(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("ignore")
        x = torch.zeros(3, requires_grad=True)
        (function(x) * 0).sum().backward()


def _warns(run: Raises) -> None:
    """A warning raised as the error it stands for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run()


def _schedule_first() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)
    torch.optim.lr_scheduler.StepLR(optimizer, 1).step()


def _no_backend() -> None:
    def refuse(graph: Any, inputs: Any) -> Any:
        raise LookupError("nothing here")

    torch.compile(lambda x: x + 1, backend=refuse)(torch.ones(1))


def _scripted() -> None:
    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.no_such_method()

    torch.jit.script(Net())


def _exported() -> None:
    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x

    torch.export.export(Net(), (torch.ones(3),))


def _full_graph() -> None:
    def branch(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x

    torch.compile(branch, fullgraph=True, backend="eager")(torch.ones(3))


def _inference() -> None:
    with torch.inference_mode():
        x = torch.ones(3)
    (x * _leaf()).sum().backward()


def _changed_inference() -> None:
    with torch.inference_mode():
        x = torch.ones(3)
    x.add_(1)


def _unused_input() -> None:
    x, y = _leaf(), _leaf()
    torch.autograd.grad(x.sum(), y)


def _grad_of_no_graph() -> None:
    torch.ones(1).backward()


def _custom_function() -> None:
    class Twice(torch.autograd.Function):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    Twice()(_leaf())


def _wrong_count() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, y: int) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            return grad

    Twice.apply(_leaf(), 2).sum().backward()


def _reduced_on_plateau() -> None:
    torch.optim.lr_scheduler.ReduceLROnPlateau(torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)).step()


def _one_cycle() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            schedule.step()


def _packed_empty() -> None:
    nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 1), torch.tensor([3, 0]), batch_first=True)


def _packed_unsorted() -> None:
    nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 1), torch.tensor([1, 3]), batch_first=True)


def _deepcopied() -> None:
    import copy

    copy.deepcopy(_leaf() * 2)


def _with_strings() -> None:
    torch.tensor(["a", "b"])


def _ragged() -> None:
    torch.tensor([[1, 2], [3]])


def _no_compiler() -> None:
    import torch._inductor.config as inductor

    with inductor.patch({"cpp.cxx": (None, "no-such-compiler"), "force_disable_caches": True}):
        torch.compile(lambda x: torch.sin(x) + 1)(torch.ones(3))


RAISED: dict[str, list[Raises]] = {
    "matmul-shapes": [
        lambda: nn.Linear(20, 5)(torch.ones(64, 10)),
        lambda: torch.ones(2, 3) @ torch.ones(4, 5),
    ],
    "matmul-vector": [lambda: torch.ones(3, 4) @ torch.ones(5), lambda: torch.ones(3).dot(torch.ones(4))],
    "bmm-sizes": [lambda: torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 5, 6))],
    "size-at-dimension": [
        lambda: torch.ones(3, 4) + torch.ones(3, 5),
        lambda: F.mse_loss(torch.ones(3), torch.ones(4)),
    ],
    "expand-size": [lambda: torch.ones(3, 4).expand(5, 4)],
    "broadcast-shape": [
        lambda: torch.ones(4).add_(torch.ones(3, 4)),
        lambda: torch.broadcast_shapes((2,), (3,)),
        lambda: torch.zeros(4).__setitem__(torch.arange(4), torch.ones(9)),
    ],
    "view-size": [lambda: torch.ones(6).view(4, -1), lambda: torch.ones(6).reshape(4, 2)],
    "view-not-contiguous": [lambda: torch.ones(2, 3).t().view(6)],
    "cat-sizes": [lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 4)])],
    "cat-dimensions": [lambda: torch.cat([torch.ones(2), torch.ones(2, 4)])],
    "split-sizes": [lambda: torch.ones(6).split([2, 3])],
    "conv-channels": [lambda: nn.Conv2d(3, 8, 3)(torch.ones(1, 1, 9, 9))],
    "conv-dimensions": [lambda: nn.Conv2d(3, 8, 3)(torch.ones(9, 9)), lambda: nn.Conv1d(3, 8, 3)(torch.ones(9))],
    "kernel-larger": [lambda: nn.Conv2d(1, 1, 5)(torch.ones(1, 1, 3, 3))],
    "output-too-small": [lambda: nn.MaxPool2d(4)(torch.ones(1, 1, 3, 3))],
    "pool-padding": [lambda: nn.MaxPool2d(2, padding=2)(torch.ones(1, 1, 8, 8))],
    "reflect-padding": [lambda: F.pad(torch.ones(1, 1, 2), (3, 3), mode="reflect")],
    "groups": [lambda: nn.Conv2d(3, 8, 3, groups=2), lambda: nn.Conv2d(4, 7, 3, groups=2)],
    "heads": [lambda: nn.MultiheadAttention(10, 3)],
    "group-norm": [lambda: nn.GroupNorm(3, 10)],
    "same-padding-stride": [lambda: nn.Conv2d(1, 1, 3, stride=2, padding="same")],
    "batchnorm-dimensions": [lambda: nn.BatchNorm2d(3)(torch.ones(3, 3)), lambda: nn.BatchNorm1d(3)(torch.ones(3))],
    "batchnorm-channels": [lambda: nn.BatchNorm2d(3)(torch.ones(2, 4, 5, 5))],
    "batchnorm-one-value": [lambda: nn.BatchNorm1d(3)(torch.ones(1, 3))],
    "instancenorm-one-value": [lambda: nn.InstanceNorm2d(3)(torch.ones(1, 3, 1, 1))],
    "layernorm-shape": [lambda: nn.LayerNorm(5)(torch.ones(2, 4))],
    "rnn-input-size": [lambda: nn.LSTM(4, 5)(torch.ones(2, 3, 6)), lambda: nn.GRUCell(4, 5)(torch.ones(2, 3))],
    "rnn-hidden-size": [
        lambda: nn.GRU(4, 5)(torch.ones(2, 3, 4), torch.ones(1, 2, 5)),
        lambda: nn.LSTM(4, 5)(torch.ones(2, 3, 4), (torch.ones(1, 2, 5), torch.ones(1, 2, 5))),
    ],
    "rnn-dimensions": [lambda: nn.LSTM(4, 5)(torch.ones(4)), lambda: nn.RNN(4, 5)(torch.ones(1, 2, 3, 4))],
    "rnn-lengths": [_packed_empty],
    "rnn-lengths-order": [_packed_unsorted],
    "attention-embedding": [lambda: nn.MultiheadAttention(8, 2)(*[torch.ones(2, 3, 6)] * 3)],
    "attention-mask": [
        lambda: nn.MultiheadAttention(8, 2)(*[torch.ones(3, 2, 8)] * 3, attn_mask=torch.ones(2, 2)),
    ],
    "dimension-out-of-range": [lambda: torch.ones(3).sum(1), lambda: torch.ones(3, 4).transpose(1, 2)],
    "permute-count": [lambda: torch.ones(2, 3, 4).permute(0, 1)],
    "t-of-3d": [lambda: torch.ones(2, 3, 4).t()],
    "too-many-indices": [lambda: torch.ones(3)[0, 1]],
    "index-out-of-bounds": [lambda: torch.ones(3)[5], lambda: torch.ones(3)[torch.tensor([7])]],
    "index-by-float": [lambda: torch.ones(3)[torch.tensor([1.0])], lambda: torch.ones(3)[1.0]],
    "mask-shape": [lambda: torch.ones(3)[torch.tensor([True, False])]],
    "scalar-indexed": [lambda: torch.tensor(1.0)[0]],
    "iteration-over-0d": [lambda: list(torch.tensor(1.0)), lambda: len(torch.tensor(1.0))],
    "embedding-index": [lambda: nn.Embedding(3, 2)(torch.tensor([5]))],
    "embedding-index-type": [lambda: nn.Embedding(3, 2)(torch.tensor([1.0]))],
    "gather-index-type": [
        lambda: torch.ones(3, 3).gather(1, torch.zeros(1, 1)),
        lambda: torch.ones(3).index_select(0, torch.zeros(1)),
    ],
    "gather-size": [lambda: torch.ones(3, 3).gather(1, torch.zeros(4, 1, dtype=torch.long))],
    "target-out-of-bounds": [
        lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3])),
        lambda: F.nll_loss(torch.ones(1, 3), torch.tensor([-1])),
    ],
    "target-batch-size": [lambda: F.cross_entropy(torch.ones(4, 3), torch.zeros(2, dtype=torch.long))],
    "target-several-columns": [
        lambda: F.cross_entropy(torch.ones(4, 3), torch.zeros(4, 1, dtype=torch.long)),
        lambda: F.nll_loss(torch.ones(4, 3), torch.zeros(4, 3, dtype=torch.long)),
    ],
    "target-size": [lambda: F.cross_entropy(torch.ones(4, 3, 5), torch.zeros(4, 6, dtype=torch.long))],
    "target-type": [
        lambda: F.cross_entropy(torch.ones(4, 3), torch.zeros(4)),
        lambda: F.cross_entropy(torch.ones(4, 3), torch.zeros(4, dtype=torch.int32)),
    ],
    "bce-size": [
        lambda: F.binary_cross_entropy(torch.ones(4), torch.ones(4, 1)),
        lambda: F.binary_cross_entropy_with_logits(torch.ones(4, 1), torch.ones(4)),
    ],
    "bce-range": [lambda: F.binary_cross_entropy(torch.tensor([2.0]), torch.tensor([1.0]))],
    "bce-target-range": [lambda: F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([7.0]))],
    "bce-target-type": [lambda: F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1]))],
    "class-weights": [lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), weight=torch.ones(2))],
    "one-hot-range": [lambda: F.one_hot(torch.tensor([5]), 3), lambda: F.one_hot(torch.tensor([-1]), 3)],
    "one-hot-type": [lambda: F.one_hot(torch.tensor([1.0]), 3)],
    "ctc-lengths": [lambda: F.ctc_loss(torch.ones(5, 2, 3), torch.ones(2, 2, dtype=torch.long), (6, 5), (2, 2))],
    "multinomial": [
        lambda: torch.multinomial(torch.tensor([float("nan"), 1.0]), 1),
        lambda: torch.multinomial(torch.tensor([0.0, 0.0]), 1),
    ],
    "distribution-argument": [
        lambda: torch.distributions.Normal(torch.tensor([float("nan")]), 1.0, validate_args=True),
        lambda: torch.distributions.Normal(0.0, -1.0, validate_args=True),
        lambda: torch.distributions.Categorical(logits=torch.tensor([float("nan"), 1.0]), validate_args=True),
    ],
    "singular-matrix": [lambda: torch.linalg.inv(torch.zeros(2, 2)), lambda: torch.linalg.cholesky(-torch.eye(2))],
    "svd-did-not-converge": [lambda: torch.linalg.svd(torch.full((2, 2), float("nan")))],
    "scalar-type-expected": [
        lambda: torch.ones(2, 2) @ torch.ones(2, 2).double(),
        lambda: nn.Linear(2, 2)(torch.ones(2, 2).double()),
        lambda: nn.LSTM(2, 2)(torch.ones(2, 2, 2).double()),
        lambda: nn.BatchNorm1d(2)(torch.ones(2, 2).double()),
    ],
    "input-and-weight-type": [
        lambda: nn.Conv2d(1, 1, 1)(torch.ones(1, 1, 2, 2).double()),
        lambda: nn.Conv2d(1, 1, 1)(torch.ones(1, 1, 2, 2, dtype=torch.uint8)),
    ],
    "result-type-cast": [
        lambda: torch.ones(2, dtype=torch.int64).add_(0.5),
        lambda: torch.ones(2).long().mul_(torch.ones(2)),
    ],
    "not-implemented-for-type": [
        lambda: F.softmax(torch.ones(2, dtype=torch.int64), 0),
        lambda: F.mse_loss(torch.ones(2).long(), torch.ones(2).long()),
    ],
    "mean-of-integers": [lambda: torch.ones(2, dtype=torch.int64).mean(), lambda: torch.ones(2).bool().mean()],
    "subtract-bool": [lambda: torch.tensor([True]) - torch.tensor([True]), lambda: 1 - torch.tensor([True])],
    "grad-needs-float": [lambda: torch.ones(2, dtype=torch.int64).requires_grad_()],
    "ambiguous-truth": [lambda: bool(torch.ones(2)), lambda: torch.ones(2) if torch.ones(2) > 0 else 0],
    "many-values-as-one": [lambda: torch.ones(2).item(), lambda: float(torch.ones(2))],
    "numpy-of-grad": [lambda: _leaf().numpy(), lambda: __import__("numpy").asarray(_leaf())],
    "tensor-of-arrays": [_ragged],
    "tensor-of-strings": [_with_strings],
    "tensor-of-objects": [lambda: torch.from_numpy(__import__("numpy").array([None, "a"], dtype=object))],
    "negative-strides": [lambda: torch.from_numpy(__import__("numpy").ones(3)[::-1])],
    "not-a-tensor": [
        lambda: nn.Linear(2, 2)([1.0, 2.0]),
        lambda: torch.cat([1, 2]),
        lambda: F.relu(__import__("numpy").ones(2)),
        lambda: torch.stack(torch.ones(2)),
    ],
    "invalid-arguments": [lambda: torch.zeros("a"), lambda: torch.ones(2).sum("x", 3), lambda: torch.ones(2).view("a")],
    "backward-twice": [_twice],
    "loss-without-graph": [_grad_of_no_graph],
    "loss-not-scalar": [lambda: (_leaf() * 2).backward()],
    "inplace-breaks-backward": [_changed_in_place],
    "inplace-on-view": [_view_changed_in_place],
    "inplace-on-leaf": [lambda: _leaf().add_(1)],
    "unused-in-graph": [_unused_input],
    "not-a-leaf": [
        lambda: torch.optim.SGD([_leaf() * 2], lr=0.1),
    ],
    "grad-size": [lambda: setattr(_leaf(), "grad", torch.ones(4)), lambda: (_leaf() * 2).backward(torch.ones(5))],
    "detect-anomaly": [lambda: _anomaly(torch.rsqrt)],
    "detect-anomaly-log": [lambda: _anomaly(torch.log)],
    "detect-anomaly-division": [lambda: _anomaly(lambda x: x / x), lambda: _anomaly(torch.reciprocal)],
    "detect-anomaly-sqrt": [lambda: _anomaly(torch.sqrt)],
    "inference-tensor": [_inference, _changed_inference],
    "legacy-function": [_custom_function],
    "wrong-gradient-count": [_wrong_count],
    "deepcopy-of-non-leaf": [_deepcopied],
    "missing-super-init": [_without_super],
    "no-forward": [_no_forward],
    "module-attribute": [lambda: nn.Linear(1, 1).foo, lambda: nn.Sequential().conv1],
    "not-a-module-subclass": [lambda: nn.Sequential(1), lambda: nn.Sequential(torch.relu)],
    "parameter-expected": [lambda: setattr(nn.Linear(1, 1), "weight", torch.ones(1))],
    "unexpected-keyword": [
        lambda: nn.Linear(1, 1, foo=3),
        lambda: torch.optim.Adam([nn.Parameter(torch.ones(1))], learning_rate=1),
    ],
    "wrong-argument-count": [
        lambda: nn.Linear(1, 1)(torch.ones(1), torch.ones(1)),
        lambda: nn.Bilinear(1, 1, 1)(torch.ones(1)),
    ],
    "optimizer-empty": [lambda: torch.optim.SGD([], lr=0.1), lambda: torch.optim.Adam(nn.ReLU().parameters())],
    "optimizer-not-iterable": [lambda: torch.optim.SGD(nn.Linear(1, 1).weight, lr=0.1)],
    "learning-rate-negative": [lambda: torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=-0.1)],
    "betas": [lambda: torch.optim.Adam([nn.Parameter(torch.ones(1))], betas=(1.5, 0.9))],
    "parameter-in-two-groups": [_parameter_twice],
    "optimizer-groups": [_groups_of_optimizer],
    "unscaled-twice": [_unscaled_twice],
    "nothing-unscaled": [_nothing_unscaled],
    "plateau-without-metric": [_reduced_on_plateau],
    "schedule-too-long": [_one_cycle],
    "state-dict-sizes": [_other_sizes],
    "state-dict-keys": [_other_names],
    "state-dict-not-a-dictionary": [lambda: nn.Linear(1, 1).load_state_dict(nn.Linear(1, 1))],
    "weights-only-load": [lambda: _saved(nn.Linear(1, 1))],
    "no-checkpoint": [lambda: torch.load(io.BytesIO(b"<html>nothing</html>" * 9))],
    "checkpoint-broken": [_cut_short],
    "jit-script": [_scripted],
    "data-dependent-export": [_exported],
    "dynamo-graph-break": [_full_graph],
    "no-cuda-build": [lambda: torch.ones(1).cuda(), lambda: torch.zeros(1, device="cuda")],
    "device-string": [lambda: torch.ones(1, device="gpu"), lambda: torch.device("cuda0")],
    "no-accelerator": [lambda: torch.ones(1).pin_memory()],
    "out-of-memory-cpu": [lambda: torch.empty(10**15)],
    "negative-dimension": [lambda: torch.ones(-1), lambda: nn.Linear(2, -1)],
    "einsum": [lambda: torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(4, 5))],
    "loss-broadcast": [lambda: _warns(lambda: F.mse_loss(torch.ones(3), torch.ones(3, 1)))],
    "scheduler-before-optimizer": [lambda: _warns(_schedule_first)],
    "softmax-without-dim": [lambda: _warns(lambda: F.softmax(torch.ones(2)))],
    "grad-of-non-leaf": [lambda: _warns(lambda: (_leaf() * 2).grad)],
    "dynamo-backend": [_no_backend],
    "quantized-backend": [
        lambda: torch.quantize_per_tensor(torch.ones(2, 2), 0.1, 0, torch.quint8) @ torch.ones(2, 2),
    ],
    "operator-without-backend": [
        lambda: torch.linalg.inv(torch.eye(3).to_sparse()),
        lambda: torch.sort(torch.eye(3).to_mkldnn()),
    ],
    "inductor-no-compiler": [_no_compiler],
    "interpolate": [lambda: F.interpolate(torch.ones(2, 3), scale_factor=2)],
    "dropout-probability": [lambda: nn.Dropout(1.5)],
    "no-attribute-of-torch": [lambda: torch.no_such_function, lambda: torch.ones(1).no_such_method()],
}
