import torch
from torch import nn, optim


class VGGish(nn.Module):
    cfg = [8, "M", 16, "M", 32, "M", 32, "M", 32, "M"]

    def __init__(self, classes=10):
        super().__init__()
        self.features = self._make_layers()
        self.classifier = nn.Linear(32, classes)

    def _make_layers(self):
        layers = []
        in_channels = 1
        for v in self.cfg:
            if v == "M":
                layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
            else:
                layers += [nn.Conv2d(in_channels, v, kernel_size=3, padding=1), nn.ReLU(inplace=True)]
                in_channels = v
        return nn.Sequential(*layers)

    def forward(self, x):
        out = self.features(x)
        out = out.view(out.size(0), -1)
        return self.classifier(out)


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = VGGish().to(device)
optimizer = optim.SGD(net.parameters(), lr=0.01)
x = torch.rand(64, 1, 28, 28)
y = torch.randint(10, (64,))
for epoch in range(2):
    for i in range(0, 64, 16):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i : i + 16].to(device)), y[i : i + 16].to(device))
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
