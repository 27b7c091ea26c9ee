import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

N_SPECIES = 6


def plants(count):
    centres = 2.0 * torch.randn(N_SPECIES, 5)
    species = torch.randint(0, N_SPECIES, (count,))
    return centres[species] + torch.randn(count, 5), species


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden1 = nn.Linear(5, 32)
        self.hidden2 = nn.Linear(32, 32)
        self.output = nn.Linear(32, N_SPECIES)

    def forward(self, x):
        x = F.relu(self.hidden1(x))
        x = F.relu(self.hidden2(x))
        return self.output(x)


def compute_loss(output, species):
    return F.cross_entropy(output, species)


def predict(output):
    return output.argmax(dim=1)


torch.manual_seed(21)
x, y = plants(1200)
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
model = Classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

for epoch in range(8):
    losses, hits = [], 0
    for features, species in loader:
        output = model(features)
        loss = compute_loss(output, species)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        hits += (predict(output) == species).sum().item()
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}, accuracy {hits / len(x):.3f}")
