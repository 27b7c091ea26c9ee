import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Leaves(Dataset):
    def __init__(self, count, size):
        generator = torch.Generator().manual_seed(size)
        self.images = torch.rand(count, 3, size, size, generator=generator)
        self.labels = torch.randint(4, (count,), generator=generator)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 10, 5, stride=2)
        self.norm = nn.BatchNorm2d(10)
        self.fc = nn.Linear(10 * 7 * 7, 4)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.fc(x.reshape(x.size(0), -1))


def run(loader, model, device, optimizer=None):
    model.train(optimizer is not None)
    total = 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item()
    return total / len(loader)


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
train_loader = DataLoader(Leaves(48, size=32), batch_size=8, shuffle=True)
val_loader = DataLoader(Leaves(16, size=32), batch_size=8)
model = LeafNet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(5):
    train_loss = run(train_loader, model, device, optimizer)
    print(epoch, train_loss)
print("validation", run(val_loader, model, device))
