import torch

torch.manual_seed(13)

n, d = 200, 5
x = torch.randn(n, d)
x[:, 0] *= 30  # one feature is in millimetres
w_true = torch.randn(d)
y = torch.sign(x @ w_true)
y[torch.rand(n) < 0.02] *= -1  # a few wrong answers

w = torch.zeros(d, requires_grad=True)
b = torch.zeros((), requires_grad=True)
lr = 0.2


def logistic_loss(score, target):
    margin = score * target
    return torch.nn.functional.softplus(-margin).mean()


for it in range(100):
    picked = torch.randint(0, n, (20,))
    loss = logistic_loss(x[picked] @ w + b, y[picked])
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad
        w.grad.zero_()
        b.grad.zero_()
    if it % 10 == 0:
        print(f"it {it:3d} loss {loss.item():.4f} |w| {w.norm().item():.3f}")
