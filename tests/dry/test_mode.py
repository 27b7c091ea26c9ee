"""Tensors are where they would be, and what does not go together on the real thing does not go together here."""

from __future__ import annotations

from pathlib import Path

import pytest
from rehearsing import rehearsed

HEAD = """
import copy
import torch
from torch import nn
import torch.nn.functional as F
device = torch.device("cuda")
x = torch.zeros(3, 4, device=device)
"""

ON_THE_CARD = """
x.new_zeros(2)
torch.zeros_like(x)
torch.cat([x, x])
x * torch.tensor(2.0)
2 * x
x.to(torch.float16)
x.data
x.detach()
x.view(-1)
x[x > 0]
x[torch.tensor([0, 1])]
x.clone().requires_grad_()
torch.nonzero(x > 0)
torch.unique(x)
x.max(1).values
torch.linalg.norm(x)
torch.einsum("ij,kj->ik", x, x)
copy.deepcopy(x)
torch.as_tensor(x)
torch.tensor([1.0], device="cuda")
torch.arange(3, device=0)
nn.Parameter(x)
nn.Linear(4, 2, device="cuda").weight
nn.Linear(4, 2).cuda().weight
nn.Linear(4, 2).to(0).weight
nn.Linear(4, 2).to("cuda", torch.float64).weight
nn.BatchNorm1d(4).to(device).running_mean
torch.func.vmap(lambda row: row.sum())(x)
torch.func.vmap(lambda row: torch.arange(4, device=device) * row.unsqueeze(-1))(x)
torch.func.grad(lambda t: (t ** 2).sum())(x)
torch.utils.checkpoint.checkpoint(nn.Linear(4, 2).cuda(), x, use_reentrant=False)
torch.jit.script(nn.Linear(4, 2)).to(device)(x)
nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 4, device=device), torch.tensor([3, 2]), batch_first=True).data
torch.distributions.Categorical(logits=x).sample()
nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)).to(device)(x)
nn.MultiheadAttention(4, 2).cuda()(x, x, x)[0]
nn.LSTM(4, 5).cuda()(x)[1][0]
torch.load(saved(x))
torch.load(saved(nn.Linear(2, 2).cuda().state_dict()))["weight"]
x.cpu().cuda()
x.type(torch.int64)
torch.cuda.FloatTensor(3)
torch.Tensor([1, 2]).type("torch.cuda.FloatTensor")
torch.tensor([1.0]).type_as(x)
torch.randn(2, device="cuda", generator=torch.Generator(device="cuda"))
torch.device(0) and torch.ones(2, device=torch.device(0))
"""
ON_THE_CPU = """
x.cpu()
torch.zeros(2)
torch.zeros_like(x, device="cpu")
torch.load(saved(x), map_location="cpu")
nn.Linear(4, 2).cuda().cpu().weight
x.to("cpu", torch.float64)
torch.from_numpy(x.cpu().numpy())
"""


@pytest.mark.parametrize(("where", "lines"), [("cuda:0", ON_THE_CARD), ("cpu", ON_THE_CPU)])
def test_everything_is_where_it_would_be(tmp_path: Path, where: str, lines: str) -> None:
    save = r"""
import io
def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file
"""
    checks = "".join(
        f"at = ({line}).device\nif str(at) != {where!r}:\n    raise RuntimeError({line!r} + ' is on ' + str(at))\n"
        for line in lines.strip().splitlines()
    )
    done = rehearsed(tmp_path, HEAD + save + checks)
    assert done.plain.how == "ended", [finding.title for finding in done.report.findings]


def test_gradients_hooks_and_optimiser_state_are_where_their_parameters_are(tmp_path: Path) -> None:
    source = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t
    @staticmethod
    def backward(ctx, gradient):
        (t,) = ctx.saved_tensors
        return 2 * t * gradient + torch.zeros(t.shape, device=gradient.device)
model = nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters())
model.weight.register_hook(lambda gradient: gradient * torch.ones(4, 4, device="cuda"))
loss = Square.apply(model(x)).sum()
loss.backward()
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()
state = optimizer.state[model.weight]
places = [str(t.device) for t in (model.weight.grad, loss, state["exp_avg"], state["step"])]
if places != ["cuda:0", "cuda:0", "cuda:0", "cpu"]:
    raise RuntimeError(str(places))
"""
    done = rehearsed(tmp_path, HEAD + source)
    assert done.plain.how == "ended", [finding.title for finding in done.report.findings]


def test_a_default_device_counts(tmp_path: Path) -> None:
    source = """
with torch.device("cuda"):
    inside = nn.Linear(2, 2).weight.device, torch.zeros(1).device
torch.set_default_device("cuda")
after = torch.zeros(1).device, torch.tensor([1.0]).device
if {str(one) for one in (*inside, *after)} != {"cuda:0"}:
    raise RuntimeError(str((inside, after)))
"""
    done = rehearsed(tmp_path, HEAD + source)
    assert done.plain.how == "ended", [finding.title for finding in done.report.findings]


def test_moving_makes_a_copy(tmp_path: Path) -> None:
    source = """
here = torch.zeros(3)
there = here.cuda()
there += 1
same = there.cuda()
same += 1
if (here.sum().item(), there.sum().item()) != (0, 6):
    raise RuntimeError("shared")
"""
    assert rehearsed(tmp_path, HEAD + source).plain.how == "ended"


WRONG = {
    "x + torch.ones(3, 4)": "Expected all tensors to be on the same device",
    "F.linear(x, torch.ones(2, 4))": "Expected all tensors to be on the same device",
    "nn.Linear(4, 2)(x)": "Expected all tensors to be on the same device",
    "torch.cat([x, torch.ones(3, 4)])": "Expected all tensors to be on the same device",
    "x.numpy()": "can't convert cuda:0 device type tensor to numpy",
    "torch.zeros(3)[torch.tensor([0], device='cuda')]": "indices should be either on cpu",
    "x.to('cuda:3')": "invalid device ordinal",
    "F.cross_entropy(x, torch.tensor([0, 1, 9], device='cuda'))": "device-side assert",
    "x.pin_memory()": "only dense CPU tensors can be pinned",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_does_not_go_together_is_refused_as_by_the_real_thing(tmp_path: Path, line: str) -> None:
    done = rehearsed(tmp_path, f"{HEAD}{line}\n")
    (finding,) = done.report.findings
    errors = [str(item.value) for item in finding.evidence if item.name == "error"]
    assert WRONG[line] in errors[0]
    assert finding.place is not None
    assert finding.place.line == HEAD.count("\n")


ALLOWED = (
    "x[0] = torch.ones(4)",
    "x.copy_(torch.ones(3, 4))",
    "torch.ones(3, 4).copy_(x)",
    "x[x > 0] = 1.0",
    "x * torch.tensor(3.0)",
    "x[torch.tensor([0])]",
    "x.view_as(torch.ones(12))",
    "print(x, x.tolist(), f'{x.sum():.2f}', float(x.sum()))",
    "torch.where(x > 0, x, torch.tensor(0.0))",
)


def test_what_the_real_thing_allows_is_allowed(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, HEAD + "\n".join(ALLOWED) + "\n")
    assert done.plain.how == "ended", [finding.title for finding in done.report.findings]
