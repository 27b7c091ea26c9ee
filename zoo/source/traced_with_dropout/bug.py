"""Trains a small text classifier and saves it for a server written in C++."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, words, classes):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, 32)
        self.norm = nn.BatchNorm1d(32)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(32, classes)

    def forward(self, tokens):
        return self.out(self.drop(torch.relu(self.norm(self.embed(tokens)))))


model = Classifier(1000, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
tokens = torch.randint(0, 1000, (64, 12))
labels = torch.randint(0, 4, (64,))
for _ in range(20):
    optimizer.zero_grad()
    loss = loss_fn(model(tokens), labels)
    loss.backward()
    optimizer.step()

scripted = torch.jit.trace(model, tokens[:2])
scripted.save("classifier.pt")
