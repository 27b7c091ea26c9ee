import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Spam(nn.Module):
    def __init__(self, words=60):
        super().__init__()
        self.fc1 = nn.Linear(words, 16)
        self.dropout = nn.Dropout(0.3)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, counts):
        hidden = self.dropout(torch.relu(self.fc1(counts)))
        return self.fc2(hidden).squeeze(1)


def train_epoch(model, loader, criterion, optimizer, device):
    running = 0.0
    model.train()
    for counts, spam in loader:
        counts, spam = counts.to(device), spam.to(device)
        optimizer.zero_grad()
        loss = criterion(model(counts), spam)
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / len(loader)


torch.manual_seed(21)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
counts = torch.poisson(torch.full((161, 60), 0.4))
spam = (counts[:, :3].sum(1) > 1).float()
loader = DataLoader(TensorDataset(counts, spam), batch_size=32, shuffle=True)
model = Spam().to(device)
optimizer = optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    print(epoch, train_epoch(model, loader, nn.BCEWithLogitsLoss(), optimizer, device))
