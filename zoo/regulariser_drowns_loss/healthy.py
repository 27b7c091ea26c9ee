import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L1 = 1e-5


class GeneNet(nn.Module):
    def __init__(self, genes=100, tissues=4):
        super().__init__()
        self.encode = nn.Linear(genes, 128)
        self.decode = nn.Linear(128, tissues)

    def forward(self, x):
        return self.decode(torch.relu(self.encode(x)))


def l1_penalty(model):
    return sum(p.abs().sum() for p in model.parameters())


def expression(count, genes=100, tissues=4):
    profile = torch.zeros(tissues, genes)
    profile[:, :10] = 1.5 * torch.randn(tissues, 10)
    tissue = torch.randint(0, tissues, (count,))
    return TensorDataset(profile[tissue] + torch.randn(count, genes), tissue)


def main():
    torch.manual_seed(28)
    loader = DataLoader(expression(1200), batch_size=48, shuffle=True)
    model = GeneNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(9):
        total = fit = 0.0
        for x, tissue in loader:
            loss = criterion(model(x), tissue)
            fit += loss.item()
            penalty = L1 * l1_penalty(model)
            loss = loss + penalty
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f} of it cross-entropy {fit / len(loader):.4f}")


if __name__ == "__main__":
    main()
