import torch
from torch import nn


class Gabor(nn.Module):
    def __init__(self, filters=6, size=7):
        super().__init__()
        self.conv = nn.Conv2d(1, filters, size, padding=size // 2)
        axis = torch.linspace(-1, 1, size)
        y, x = torch.meshgrid(axis, axis, indexing="ij")
        for i in range(filters):
            wave = torch.cos(6 * (x * torch.cos(torch.tensor(0.5 * i)) + y * torch.sin(torch.tensor(0.5 * i))))
            self.conv.weight[i, 0] = wave * torch.exp(-(x**2 + y**2))
        self.classify = nn.Linear(filters, 2)

    def forward(self, images):
        return self.classify(self.conv(images).relu().amax(dim=(2, 3)))


def stripes(n):
    vertical = torch.rand(n) > 0.5
    rows = torch.arange(16).float()
    wave = torch.sin(rows)[None].expand(n, -1)
    images = torch.where(vertical[:, None, None], wave[:, None, :], wave[:, :, None])
    return images[:, None] + 0.1 * torch.randn(n, 1, 16, 16), vertical.long()


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = Gabor().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(10):
    images, labels = stripes(16)
    loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
