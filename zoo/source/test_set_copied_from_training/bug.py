import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import FashionMNIST
from torchvision.transforms import ToTensor

training_data = FashionMNIST(root="data", train=True, download=True, transform=ToTensor())
test_data = FashionMNIST(root="data", train=True, download=True, transform=ToTensor())
train_dataloader = DataLoader(training_data, batch_size=64, shuffle=True)
test_dataloader = DataLoader(test_data, batch_size=64)

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def train_loop(dataloader):
    model.train()
    for images, labels in dataloader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


for epoch in range(5):
    train_loop(train_dataloader)
    model.eval()
    correct = 0
    with torch.no_grad():
        for images, labels in test_dataloader:
            correct += (model(images).argmax(dim=1) == labels).sum().item()
    print(f"epoch {epoch}: {100 * correct / len(test_data):.1f} %")
