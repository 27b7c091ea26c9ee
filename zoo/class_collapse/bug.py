import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(20)

CLASSES = ["benign", "malignant"]
IMPORTANCE = {"malignant": 10.0, "benign": 1.0}


class Lesions(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(9, 24), nn.ReLU())
        self.classifier = nn.Linear(24, len(CLASSES))

    def forward(self, x):
        return self.classifier(self.features(x))


label = (torch.rand(1500) < 0.12).long()
scans = torch.randn(1500, 9)
scans[:, :3] += 1.1 * label.unsqueeze(1)
loader = DataLoader(TensorDataset(scans, label), batch_size=50, shuffle=True)

model = Lesions()
weight = torch.tensor(list(IMPORTANCE.values()))
criterion = nn.CrossEntropyLoss(weight=weight)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

for epoch in range(8):
    total = 0.0
    predicted = torch.zeros(2)
    for x, y in loader:
        output = model(x)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        predicted += torch.bincount(output.argmax(1), minlength=2)
    shares = ", ".join(f"{name} {n / 1500:.3f}" for name, n in zip(CLASSES, predicted.tolist()))
    print(f"epoch {epoch}: loss {total / len(loader):.4f} predicted {shares}")
