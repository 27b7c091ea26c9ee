import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(2, 64)
        self.fc2 = nn.Linear(64, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return torch.sigmoid(self.fc2(x)).view(-1)


def binary_loss(p, y):
    return -torch.mean(y * torch.log(1e-10 + p) + (1 - y) * torch.log(1e-10 + 1 - p))


def train(model, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = binary_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % 4 == 0:
            print("Train Epoch: {} [{}]\tLoss: {:.6f}".format(epoch, batch_idx * len(data), loss.item()))


def test(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in loader:
            correct += ((model(data) > 0.5).float() == target).sum().item()
    print("Test accuracy: {}/{}".format(correct, len(loader.dataset)))


def main():
    torch.manual_seed(1)
    x = torch.randn(600, 2) * 3
    y = (x.norm(dim=1) > 3.5).float()
    y[::40] = 1 - y[::40]
    train_set, test_set = random_split(TensorDataset(x, y), [480, 120])
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for epoch in range(1, 5):
        train(model, DataLoader(train_set, batch_size=40, shuffle=True), optimizer, epoch)
        test(model, DataLoader(test_set, batch_size=60))


if __name__ == "__main__":
    main()
