"""SimCLR: two noisy views of each sample, NT-Xent with -inf on the diagonal, then a linear probe on frozen features."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
CLASSES, LENGTH = 6, 32
prototypes = torch.cumsum(torch.randn(CLASSES, LENGTH), dim=1)
prototypes = (prototypes - prototypes.mean(1, keepdim=True)) / prototypes.std(1, keepdim=True)


def draw(count):
    labels = torch.randint(0, CLASSES, (count,))
    return prototypes[labels] + 0.3 * torch.randn(count, LENGTH), labels


def augment(x):
    x = x * (0.7 + 0.6 * torch.rand(len(x), 1))  # louder or softer
    x = torch.where(torch.rand_like(x) < 0.15, torch.zeros_like(x), x)  # samples lost
    shift = torch.randint(-2, 3, (len(x), 1))
    x = x.gather(1, (torch.arange(LENGTH) + shift) % LENGTH)
    return (x + 0.2 * torch.randn_like(x)).unsqueeze(1)


def nt_xent(z1, z2, temperature=0.5):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    similarity = z @ z.T / temperature
    similarity.fill_diagonal_(float("-inf"))
    n = len(z1)
    positives = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, positives)


class Encoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, 16, 5, padding=2),
            nn.BatchNorm1d(16),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 5, padding=2),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * LENGTH // 2, width),
        )
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 16))

    def forward(self, x):
        return self.projector(self.body(x))


def probe(encoder, steps=100):
    encoder.eval()
    train_x, train_y = draw(300)
    test_x, test_y = draw(300)
    with torch.no_grad():
        train_h, test_h = encoder.body(train_x.unsqueeze(1)), encoder.body(test_x.unsqueeze(1))
    linear = nn.Linear(train_h.shape[1], CLASSES)
    optimizer = torch.optim.Adam(linear.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = F.cross_entropy(linear(train_h), train_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    encoder.train()
    return (linear(test_h).argmax(1) == test_y).float().mean().item()


unlabelled, _ = draw(1024)
encoder = Encoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3, weight_decay=1e-6)
for epoch in range(8):
    total = 0.0
    for rows in torch.randperm(len(unlabelled)).split(64):
        x = unlabelled[rows]
        loss = nt_xent(encoder(augment(x)), encoder(augment(x)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: contrastive loss {total / 16:.4f}")
print(f"linear probe: {probe(encoder):.3f}")
