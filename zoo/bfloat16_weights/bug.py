import torch
import torch.nn.functional as F
from torch import nn


class EqualLinear(nn.Module):
    """Weights of unit variance, scaled when they are used."""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(fan_out, fan_in))
        self.scale = fan_in**-0.5

    def forward(self, x):
        return F.linear(x, self.weight * self.scale)


class Mapping(nn.Module):
    def __init__(self, fan_in=16, width=256):
        super().__init__()
        self.first = EqualLinear(fan_in, width)
        self.second = EqualLinear(width, width)
        self.last = EqualLinear(width, 1)

    def forward(self, x):
        x = F.leaky_relu(self.first(x), 0.2)
        x = F.leaky_relu(self.second(x), 0.2)
        return self.last(x).squeeze(1)


def main(dtype=torch.bfloat16, lr=3e-4, epochs=20, batch_size=64):
    torch.manual_seed(0)
    x = torch.randn(1024, 16)
    y = 0.7 * x[:, 0] - 0.5 * x[:, 1] + 0.5 * torch.relu(x[:, 2] + x[:, 3])
    x, y = x.to(dtype), y.to(dtype)
    model = Mapping().to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(batch_size):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch} mse {total / len(x):.4f}")


if __name__ == "__main__":
    main()
