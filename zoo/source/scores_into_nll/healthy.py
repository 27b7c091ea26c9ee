import torch
import torch.nn as nn
from torch.utils.data import DataLoader


class BagOfWords(nn.Module):
    def __init__(self, vocabulary, classes):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocabulary, 64)
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, classes))

    def forward(self, text, offsets):
        return self.head(self.embedding(text, offsets))


class Experiment:
    def __init__(self, vocabulary, classes):
        self.model = BagOfWords(vocabulary, classes)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def epoch(self, loader: DataLoader):
        self.model.train()
        total = 0.0
        for text, offsets, labels in loader:
            self.optimizer.zero_grad()
            scores = self.model(text, offsets)
            loss = self.criterion(scores, labels)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)
