import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

config = {"epochs": 30, "micro_batch": 16, "accumulate": 32, "lr": 0.01, "hidden": 64}


class Demand(Dataset):
    """Electricity demand as a function of hour, weekday and temperature."""

    def __init__(self, size=320):
        g = torch.Generator().manual_seed(9)
        hour, day = torch.rand(size, generator=g), torch.rand(size, generator=g)
        warmth = torch.randn(size, generator=g)
        wave = torch.sin(6.28 * hour) + 0.5 * torch.cos(6.28 * day)
        self.x = torch.stack([2 * hour - 1, 2 * day - 1, warmth], dim=1)
        self.y = (wave + 0.5 * warmth**2 - 0.5).unsqueeze(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def main():
    torch.manual_seed(0)
    loader = DataLoader(Demand(), batch_size=config["micro_batch"], shuffle=True)
    model = nn.Sequential(
        nn.Linear(3, config["hidden"]),
        nn.Tanh(),
        nn.Linear(config["hidden"], config["hidden"]),
        nn.Tanh(),
        nn.Linear(config["hidden"], 1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    criterion = nn.MSELoss()

    for epoch in range(config["epochs"]):
        epoch_loss = 0.0
        for i, (x, y) in enumerate(loader):
            loss = criterion(model(x), y)
            (loss / config["accumulate"]).backward()
            if (i + 1) % config["accumulate"] == 0:
                optimizer.step()
                optimizer.zero_grad()
            epoch_loss += loss.item()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: mse {epoch_loss / len(loader):.4f}")


if __name__ == "__main__":
    main()
