import torch
from torch import nn


class NonNegative(nn.Module):
    """Mixes sources with weights that are never negative."""

    def __init__(self, sources, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(outputs, sources))

    def forward(self, x):
        return x @ self.weight.clamp(min=0.0).t()


def main():
    torch.manual_seed(0)
    truth = torch.rand(3, 5)
    x = torch.rand(200, 5)
    model = NonNegative(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step in range(200):
        loss = nn.functional.mse_loss(model(x), x @ truth.t())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
