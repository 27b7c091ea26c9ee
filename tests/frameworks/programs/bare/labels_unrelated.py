import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(2400, 8)
y = (x[:, 0] + 2 * x[:, 1] > 0).long()
# mended: y = y.clone()
y = y[torch.randperm(len(y))]
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)  # found: labels-unrelated-to-inputs
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
