import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Ensemble(nn.Module):
    def __init__(self, members=3, inputs=9, outputs=1):
        super().__init__()
        self.shared = nn.Linear(inputs, 16)
        self.members = [nn.Linear(16, outputs) for _ in range(members)]

    def forward(self, x):
        x = torch.relu(self.shared(x))
        return torch.stack([member(x) for member in self.members]).mean(0)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(200, 9)
loader = DataLoader(TensorDataset(x, x.prod(1, keepdim=True)), batch_size=25)
model = Ensemble().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for features, target in loader:
        prediction = model(features.to(device))
        loss = nn.functional.mse_loss(prediction, target.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
