import torch
import torch.nn.functional as F
from torch import nn


class Parity(nn.Module):
    def __init__(self, bits):
        super().__init__()
        self.a = nn.Linear(bits, 4 * bits)
        self.b = nn.Linear(4 * bits, 2)

    def forward(self, x):
        return self.b(F.gelu(self.a(x)))


def examples(n, bits=6, device=None):
    x = torch.randint(0, 2, (n, bits), device=device)
    return x.float(), x.sum(1) % 2


def evaluate(model, device):
    model.eval()
    x, y = examples(200, device=device)
    with torch.inference_mode():
        accuracy = (model(x).argmax(dim=-1) == y).float().mean()
    model.train()
    return accuracy.item()


def train(steps=40, report=20):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Parity(6).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(1, steps + 1):
        x, y = examples(32, device=device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % report == 0:
            print(f"step {step} loss {loss.item():.3f} accuracy {evaluate(model, device):.2f}")


torch.manual_seed(0)
train()
