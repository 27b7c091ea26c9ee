import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def double(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(), nn.Conv2d(cout, cout, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, base=6):
        super().__init__()
        self.down1 = double(1, base)
        self.down2 = double(base, 2 * base)
        self.bottom = double(2 * base, 4 * base)
        self.pool = nn.MaxPool2d(2)
        self.up2 = nn.ConvTranspose2d(4 * base, 2 * base, 2, stride=2)
        self.merge2 = double(4 * base, 2 * base)
        self.up1 = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.merge1 = double(2 * base, base)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(self.pool(first))
        x = self.bottom(self.pool(second))
        x = self.merge2(torch.cat([second, self.up2(x)], dim=1))
        x = self.merge1(torch.cat([first, self.up1(x)], dim=1))
        return self.out(x)


def cells(n, height, width):
    images = torch.rand(n, 1, height, width)
    return TensorDataset(images, (images > 0.7).float())


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = UNet().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
loader = DataLoader(cells(24, 36, 30), batch_size=6, shuffle=True)
for epoch in range(2):
    for image, mask in loader:
        loss = criterion(model(image.to(device)), mask.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
