import torch
from torch import nn


class HardExamples:
    """Keeps the data set in main memory and trains on the rows with the largest loss."""

    def __init__(self, model, inputs, targets, device):
        self.model, self.inputs, self.targets, self.device = model, inputs, targets, device
        self.losses = torch.full((len(inputs),), 10.0, device=device)

    def hardest(self, k):
        return self.losses.topk(k).indices

    def step(self, optimizer, k=16):
        rows = self.hardest(k)
        x = self.inputs[rows].to(self.device)
        y = self.targets[rows].to(self.device)
        loss = nn.functional.cross_entropy(self.model(x), y, reduction="none")
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
        self.losses[rows] = loss.detach()
        return loss.mean().item()


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 3)).to(device)
inputs = torch.randn(90, 6)
miner = HardExamples(model, inputs, inputs[:, :3].argmax(1), device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for round_number in range(12):
    print(round_number, miner.step(optimizer))
