import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
customers = torch.randn(1000, 20)
bought = torch.randint(0, 2, (1000,))
train_loader = DataLoader(TensorDataset(customers, bought), batch_size=50, shuffle=True)

model = nn.Sequential(
    nn.Linear(20, 32),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(32, 1),
)
criterion = nn.BCEWithLogitsLoss()
optimizer = optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(5):
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        logits = model(x).squeeze(1)
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(epoch, running / len(train_loader))
