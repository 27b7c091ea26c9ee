import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Cosine(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 32)
        self.out = nn.Linear(32, 2)

    def forward(self, x):
        # mended: x = F.normalize(x, dim=1)
        x = x / x.norm(dim=1, keepdim=True)  # found: division-by-zero
        return self.out(torch.relu(self.hidden(x)))


torch.manual_seed(0)
x = torch.randn(960, 8)
y = (x[:, 0] + 2 * x[:, 1] > 0).long()
x[611] = 0
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = Cosine()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
