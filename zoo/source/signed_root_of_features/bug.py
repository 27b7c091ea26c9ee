import torch
from torch import nn


class Descriptor(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.convolve = nn.Conv2d(3, channels, 3, padding=1)
        self.classify = nn.Linear(channels, classes)

    def forward(self, image):
        maps = torch.relu(self.convolve(image))
        gated = maps * torch.relu(maps - 0.5)
        rooted = gated.sign() * gated.abs() ** 0.5
        return self.classify(rooted.mean(dim=(2, 3)))


model = Descriptor(16, 5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss = nn.functional.cross_entropy(model(torch.rand(4, 3, 16, 16)), torch.randint(0, 5, (4,)))
optimizer.zero_grad()
loss.backward()
optimizer.step()
