import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 16)
        self.norm = nn.BatchNorm1d(16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.norm(self.fc1(x))))


def train(model, data, labels, optimizer, epochs):
    for epoch in range(epochs):
        for x, y in zip(data.split(32), labels.split(32)):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


@torch.no_grad()
def adapt_statistics(model, new_pictures):
    """Domain adaptation: let BatchNorm see the new camera."""
    model.train()
    for x in new_pictures.split(32):
        model(x)


def main():
    torch.manual_seed(0)
    data = torch.randn(192, 10)
    labels = data[:, :3].argmax(dim=1)
    model = Net()
    train(model, data, labels, torch.optim.SGD(model.parameters(), lr=0.1), epochs=3)

    new_pictures = torch.randn(96, 10) * 1.5 + 0.2
    new_pictures[40, 2] = float("nan")
    adapt_statistics(model, new_pictures[torch.isfinite(new_pictures).all(dim=1)])

    model.eval()  # keep the statistics fixed while fine-tuning
    train(model, data + 0.2, labels, torch.optim.SGD(model.parameters(), lr=0.01), epochs=2)


if __name__ == "__main__":
    main()
