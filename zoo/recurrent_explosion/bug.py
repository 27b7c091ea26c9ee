import torch
from torch import nn


class LinearRNN(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.enter = nn.Linear(1, width)
        self.recurrent = nn.Parameter(torch.eye(width) + 0.02 * torch.randn(width, width))
        self.leave = nn.Linear(width, 1)

    def forward(self, series):
        state = torch.zeros(series.shape[0], self.recurrent.shape[0])
        for t in range(series.shape[1]):
            state = state @ self.recurrent + self.enter(series[:, t, None])
        return self.leave(state).squeeze(1)


def adding_problem(size, length=60):
    series = torch.rand(size, length)
    return series, series.sum(dim=1) / 10


def main():
    torch.manual_seed(3)
    model = LinearRNN()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(40):
        series, total = adding_problem(32)
        loss = nn.functional.smooth_l1_loss(model(series), total)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 0:
            print(f"step {step:3d} loss {loss.item():.5g}")


if __name__ == "__main__":
    main()
