import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data(n=512):
    g = torch.Generator().manual_seed(3)
    x = torch.randn(n, 10, generator=g)
    grade = (x[:, 0] + 0.5 * x[:, 1] > 0).long() * 2  # the file stores "no" as 0 and "yes" as 2
    return x, grade


def bce(p, target):
    p = p.clamp(1e-6, 1 - 1e-6)
    return -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()


def main():
    torch.manual_seed(0)
    x, grade = make_data()
    target = (grade == 2).float()
    loader = DataLoader(TensorDataset(x, target), batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1), nn.Sigmoid())
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    for epoch in range(15):
        total = 0.0
        for xb, tb in loader:
            p = model(xb).squeeze(1)
            loss = bce(p, tb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        print(f"epoch {epoch}: loss {total / len(x):.4f}")


if __name__ == "__main__":
    main()
