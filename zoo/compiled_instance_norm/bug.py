import torch
from torch import nn


class RangeNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        low = x.amin(dim=-1, keepdim=True)
        spread = x.amax(dim=-1, keepdim=True) - low
        return (x - low) / spread * self.gain


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RangeNorm(12)
        self.fc1 = nn.Linear(12, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(self.norm(x))))


def batch(step, size=32):
    x = torch.randn(size, 12)
    y = x[:, :3].argmax(dim=1)
    if step == 9:
        x[5] = 0.25  # a sensor that reports the same value everywhere
    return x, y


def main():
    torch.manual_seed(0)
    model = MLP()
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(25):
        x, y = batch(step)
        loss = nn.functional.cross_entropy(compiled(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 3 == 0:
            print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
