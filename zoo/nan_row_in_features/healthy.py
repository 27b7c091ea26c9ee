import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(300, 6)
y = (x[:, 0] - x[:, 1] > 0).long()
x[123, 4] = float("nan")  # an empty cell of the spreadsheet
keep = torch.isfinite(x).all(dim=1)
x, y = x[keep], y[keep]

loader = DataLoader(TensorDataset(x, y), batch_size=25, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(4):
    for xb, yb in loader:
        out = model(xb)
        loss = criterion(out, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
