"""MAML with second derivatives: the inner step is written out with autograd.grad(create_graph=True), Adam moves the start."""

import torch
from torch import nn
from torch.func import functional_call


def make_task():
    """A linear rule in a rotated plane; a task is told from another by the direction of the border."""
    direction = nn.functional.normalize(torch.randn(2), dim=0)

    def draw(count):
        x = torch.randn(count, 2)
        return x, (x @ direction > 0.2).float()

    return draw


def inner(model, params, x, y, lr, steps, create_graph):
    for _ in range(steps):
        loss = nn.functional.binary_cross_entropy_with_logits(functional_call(model, params, x).squeeze(1), y)
        slopes = torch.autograd.grad(loss, list(params.values()), create_graph=create_graph)
        params = {name: p - lr * g for (name, p), g in zip(params.items(), slopes)}
    return params


def accuracy(model, tasks, lr):
    right = 0.0
    for draw in tasks:
        params = inner(model, dict(model.named_parameters()), *draw(10), lr, 3, create_graph=False)
        x, y = draw(200)
        with torch.no_grad():
            right += ((functional_call(model, params, x).squeeze(1) > 0) == (y > 0.5)).float().mean().item()
    return right / len(tasks)


torch.manual_seed(1)
model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
inner_lr = 0.4
meta = torch.optim.Adam(model.parameters(), lr=3e-3)
held = [make_task() for _ in range(20)]
print(f"start: accuracy after 3 steps {accuracy(model, held, inner_lr):.3f}")
for it in range(1, 161):
    meta.zero_grad()
    total = 0.0
    for _ in range(4):
        draw = make_task()
        params = inner(model, dict(model.named_parameters()), *draw(10), inner_lr, 2, create_graph=True)
        x, y = draw(30)
        loss = nn.functional.binary_cross_entropy_with_logits(functional_call(model, params, x).squeeze(1), y) / 4
        loss.backward()
        total += loss.item()
    meta.step()
    if it % 40 == 0:
        print(f"round {it}: loss {total:.4f} accuracy after 3 steps {accuracy(model, held, inner_lr):.3f}")
