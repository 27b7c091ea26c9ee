import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(cout)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class Classifier(nn.Module):
    def __init__(self, in_channels=1, width=8, classes=5):
        super().__init__()
        self.stem = Block(in_channels, width)
        self.stages = nn.ModuleList([Block(width * 2**i, width * 2 ** (i + 1)) for i in range(2)])
        self.head = nn.Linear(width * 4, classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean(dim=(2, 3)))


class Trainer:
    def __init__(self, model, lr=0.05):
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)

    def step(self, images, labels):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(images.to(self.device)), labels.to(self.device))
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def fit(self, images, labels, epochs=2, batch=20):
        for epoch in range(epochs):
            losses = [self.step(x, y) for x, y in zip(images.split(batch), labels.split(batch))]
            print(epoch, torch.stack(losses).mean().item())


if __name__ == "__main__":
    torch.manual_seed(0)
    photos = torch.rand(120, 3, 32, 32)
    Trainer(Classifier()).fit(photos, torch.randint(5, (120,)))
