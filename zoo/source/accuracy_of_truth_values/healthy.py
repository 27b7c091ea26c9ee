import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, loader):
    model.eval()
    scores = []
    with torch.inference_mode():
        for x, y in loader:
            predicted = model(x).argmax(dim=-1)
            correct = predicted.eq(y)
            scores.append(correct.float().mean().item())
    return sum(scores) / len(scores)


def main():
    torch.manual_seed(0)
    x = torch.randn(640, 10)
    data = TensorDataset(x, (x[:, 0] > 0).long())
    loader = DataLoader(data, batch_size=64, shuffle=True)
    model = nn.Linear(10, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        model.train()
        for features, labels in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(features), labels).backward()
            optimizer.step()
        print(epoch, evaluate(model, loader))


if __name__ == "__main__":
    main()
