import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)

EPOCHS = 15


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(18, 64),
            nn.ReLU(),
            nn.Linear(64, 5),
        )

    def forward(self, x):
        return self.net(x)


centres = torch.randn(5, 18)
cultivar = torch.randint(0, 5, (1000,))
samples = centres[cultivar] + 0.8 * torch.randn(1000, 18)
loader = DataLoader(TensorDataset(samples, cultivar), batch_size=50, shuffle=True)

model = Classifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.003)

for epoch in range(EPOCHS):
    running = 0.0
    for batch, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(batch), target)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch + 1:2d}/{EPOCHS}  loss {running / len(loader):.4f}")
