import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DeepMLP(nn.Module):
    def __init__(self, n_in, n_out, width=64, depth=9):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.out = nn.Linear(width, n_out)
        self.act = nn.Sigmoid()

    def forward(self, x):
        x = self.act(self.inp(x))
        for layer in self.hidden:
            x = self.act(layer(x))
        return self.out(x)


def clusters(count, n_in=12, kinds=6):
    centres = torch.randn(kinds, n_in)
    kind = torch.randint(0, kinds, (count,))
    return centres[kind] + 0.5 * torch.randn(count, n_in), kind


def main():
    torch.manual_seed(0)
    features, kind = clusters(1280)
    loader = DataLoader(TensorDataset(features, kind), batch_size=64, shuffle=True)
    model = DeepMLP(12, 6)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(15):
        total = 0.0
        for xb, yb in loader:
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch:2d} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
