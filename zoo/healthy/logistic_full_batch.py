"""Logistic regression with plain SGD on the whole data: one step per epoch, raw tensors, and weights that start at zero."""

import torch

torch.manual_seed(0)

# exams: hours of study, hours of sleep, lectures missed
count = 500
hours = torch.distributions.Gamma(4.0, 0.5).sample((count,))
sleep = 7 + torch.randn(count)
missed = torch.poisson(torch.full((count,), 3.0))
score = 0.5 * (hours - 8) + 0.6 * (sleep - 7) - 0.5 * (missed - 3)
passed = (torch.rand(count) < torch.sigmoid(2 * score)).float()

x = torch.stack([hours, sleep, missed], dim=1)
x = (x - x.mean(0)) / x.std(0)
train, test = slice(0, 400), slice(400, None)

w = torch.zeros(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, b], lr=0.5)


def loss_of(rows):
    logits = x[rows] @ w + b
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, passed[rows])


history = []
for epoch in range(400):
    loss = loss_of(train) + 1e-3 * w.square().sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    history.append(loss.item())
    if epoch % 50 == 0:
        with torch.no_grad():
            held = loss_of(test).item()
            right = ((x[test] @ w + b > 0) == (passed[test] > 0.5)).float().mean().item()
        print(f"epoch {epoch:3d} loss {loss.item():.4f} held {held:.4f} accuracy {right:.3f}")

assert all(later <= earlier + 1e-6 for earlier, later in zip(history, history[1:])), "a convex loss falls at every step"
print("weights", [round(v, 2) for v in w.tolist()], "bias", round(b.item(), 2))
