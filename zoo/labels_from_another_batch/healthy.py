import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(13)


def sample_rows(total, batch_size):
    return torch.randperm(total)[:batch_size]


N, DIM, CLASSES = 1500, 20, 3
inputs = torch.randn(N, DIM)
secret = nn.Sequential(nn.Linear(DIM, 12), nn.Tanh(), nn.Linear(12, CLASSES))
with torch.no_grad():
    scores = secret(inputs)
    labels = (scores - scores.mean(0)).argmax(dim=1)

model = nn.Sequential(
    nn.Linear(DIM, 64),
    nn.ReLU(),
    nn.Linear(64, 64),
    nn.ReLU(),
    nn.Linear(64, CLASSES),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
history = []

for step in range(300):
    rows = sample_rows(N, 64)
    xb = inputs[rows]
    yb = labels[rows]
    loss = F.cross_entropy(model(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    if (step + 1) % 30 == 0:
        print(f"step {step + 1}: loss {sum(history[-30:]) / 30:.4f}")
