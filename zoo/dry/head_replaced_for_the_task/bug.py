import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Pretrained(nn.Module):
    def __init__(self, classes=20):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
        self.fc = nn.Linear(24, classes)

    def forward(self, x):
        return self.fc(self.body(x))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Pretrained()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
model.fc = nn.Linear(24, 3)
model = model.to(device)

x = torch.randn(150, 8)
loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=30, shuffle=True)
for epoch in range(3):
    for features, label in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features.to(device)), label.to(device))
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
