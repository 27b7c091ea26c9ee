import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DROPOUT = 0.1


class SoundNet(nn.Module):
    def __init__(self, kinds=8):
        super().__init__()
        self.fc1 = nn.Linear(40, 64)
        self.fc2 = nn.Linear(64, 32)
        self.fc3 = nn.Linear(32, kinds)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x):
        x = self.drop(F.relu(self.fc1(x)))
        x = self.drop(F.relu(self.fc2(x)))
        return self.fc3(x)


def sounds(count, kinds=8):
    template = torch.randn(kinds, 40)
    kind = torch.randint(0, kinds, (count,))
    return template[kind] + torch.randn(count, 40), kind


def main():
    torch.manual_seed(30)
    loader = DataLoader(TensorDataset(*sounds(1280)), batch_size=64, shuffle=True)
    model = SoundNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(12):
        model.train()
        total = 0.0
        for x, kind in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), kind)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1:2d} train loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
