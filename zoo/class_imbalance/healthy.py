import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(26)


def payments(count):
    fraud = (torch.rand(count) < 0.03).long()
    data = torch.randn(count, 12)
    data[:, :4] += 0.8 * fraud.unsqueeze(1)
    return data, fraud


x, fraud = payments(3000)
chance = torch.tensor([0.5, 0.5]) / torch.bincount(fraud)
sampler = WeightedRandomSampler(chance[fraud], len(x))
loader = DataLoader(TensorDataset(x, fraud), batch_size=64, sampler=sampler)

model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(5):
    total = found = 0
    for features, target in loader:
        logits = model(features)
        loss = criterion(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        found += ((logits.argmax(1) == 1) & (target == 1)).sum().item()
    print(f"epoch {epoch}: loss {total / len(loader):.4f}, frauds found {found}")

with torch.no_grad():
    flagged = model(x).argmax(1)
recall = flagged[fraud == 1].float().mean()
print(f"accuracy {(flagged == fraud).float().mean():.3f}, {flagged.sum().item()} flagged, recall {recall:.3f}")
