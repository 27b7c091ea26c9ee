"""Gradient accumulation: four micro-batches to a step, each loss divided by four, a step also for the rest at the end."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, optimizer, criterion, accumulate=4):
        self.model, self.optimizer, self.criterion, self.accumulate = model, optimizer, criterion, accumulate
        self.steps = 0

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        self.optimizer.zero_grad()
        for i, (inputs, labels) in enumerate(loader, start=1):
            loss = self.criterion(self.model(inputs), labels) / self.accumulate
            loss.backward()
            total += loss.item() * self.accumulate
            if i % self.accumulate == 0 or i == len(loader):
                nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=2.0)
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.steps += 1
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        right = count = 0
        for inputs, labels in loader:
            right += (self.model(inputs).argmax(dim=1) == labels).sum().item()
            count += len(labels)
        return right / count


class Classifier(nn.Module):
    """Words are pooled after a small transformer layer; the class is the topic that most of the words come from."""

    def __init__(self, vocab=60, width=32, classes=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.1, batch_first=True, norm_first=True)
        self.out = nn.Linear(width, classes)

    def forward(self, tokens):
        return self.out(self.layer(self.embedding(tokens)).mean(dim=1))


def texts(count, length=12):
    labels = torch.randint(0, 4, (count,))
    own = labels[:, None] * 15 + torch.randint(0, 15, (count, length))
    other = torch.randint(0, 60, (count, length))
    return TensorDataset(torch.where(torch.rand(count, length) < 0.5, own, other), labels)


if __name__ == "__main__":
    torch.manual_seed(0)
    train_loader = DataLoader(texts(1512), batch_size=8, shuffle=True)
    val_loader = DataLoader(texts(400), batch_size=100)
    model = Classifier()
    trainer = Trainer(model, torch.optim.AdamW(model.parameters(), lr=2e-3), nn.CrossEntropyLoss())
    for epoch in range(4):
        loss = trainer.train_epoch(train_loader)
        print(f"epoch {epoch}: {trainer.steps} steps, loss {loss:.4f}, val accuracy {trainer.evaluate(val_loader):.3f}")
