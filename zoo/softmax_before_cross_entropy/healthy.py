import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)

NUM_CLASSES = 10
EPOCHS = 8


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 100)
        self.fc2 = nn.Linear(100, 50)
        self.fc3 = nn.Linear(50, NUM_CLASSES)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


prototypes = torch.randn(NUM_CLASSES, 64)
labels = torch.randint(0, NUM_CLASSES, (800,))
digits = prototypes[labels] + 1.5 * torch.randn(800, 64)
train_loader = DataLoader(TensorDataset(digits, labels), batch_size=32, shuffle=True)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)

for epoch in range(EPOCHS):
    running_loss, correct = 0.0, 0
    for data, target in train_loader:
        optimizer.zero_grad()
        output = net(data)
        loss = F.cross_entropy(output, target)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * len(data)
        correct += (output.argmax(1) == target).sum().item()
    print(f"epoch {epoch}: loss {running_loss / 800:.4f} accuracy {correct / 800:.3f}")
