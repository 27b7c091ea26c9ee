import torch
from torch import nn

BATCH = 40


class Regressor(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, 40), nn.LayerNorm(40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1)
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def molecules(n):
    x = torch.randn(n, 6)
    return x, x[:, 0] * x[:, 1] + torch.tanh(2 * x[:, 2]) + 0.5 * x[:, 3] ** 2 - 0.5


def train_fold(model, x, y, epochs, lr=0.01):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        for module in model.modules():
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()
        losses = []
        for rows in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"  epoch {epoch}: {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = molecules(720)
    train_fold(Regressor(6), x, y, epochs=12)
