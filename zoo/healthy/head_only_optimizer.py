"""Linear probing without freezing: the backbone still gets gradients, but the optimiser was given the head alone."""

import torch
from torch import nn


def sequences(count, rule):
    """Rows of 16 symbols; the backbone learns to predict the next symbol, the head learns to tell the rules apart."""
    start = torch.randint(0, 8, (count, 1))
    step = rule[torch.randint(0, len(rule), (count,))].unsqueeze(1)
    rows = (start + step * torch.arange(17)) % 8
    noisy = torch.where(torch.rand(rows.shape) < 0.05, torch.randint(0, 8, rows.shape), rows)
    return noisy, step.squeeze(1)


class Backbone(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embedding = nn.Embedding(8, 16)
        self.gru = nn.GRU(16, width, batch_first=True)
        self.next_symbol = nn.Linear(width, 8)

    def features(self, rows):
        return self.gru(self.embedding(rows))[0]

    def forward(self, rows):
        return self.next_symbol(self.features(rows))


torch.manual_seed(0)
rules = torch.tensor([1, 2, 3, 5])
backbone = Backbone()
optimizer = torch.optim.Adam(backbone.parameters(), lr=5e-3)
print("pretraining: the next symbol")
for step in range(1, 201):
    rows, _ = sequences(32, rules)
    loss = nn.functional.cross_entropy(backbone(rows[:, :-1]).transpose(1, 2), rows[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step}: loss {loss.item():.4f}")

print("probing: which rule made the row")
head = nn.Linear(48, 4)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
for step in range(1, 151):
    rows, rule = sequences(32, rules)
    label = torch.searchsorted(rules, rule)
    logits = head(backbone.features(rows)[:, -1])
    loss = nn.functional.cross_entropy(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        right = (logits.argmax(1) == label).float().mean().item()
        print(f"step {step}: loss {loss.item():.4f} accuracy {right:.2f}")
