import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.scale = math.sqrt(width)

    def forward(self, states):
        scores = torch.bmm(self.query(states), self.key(states).transpose(1, 2)) / self.scale
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, self.value(states))


class SentenceEncoder(nn.Module):
    def __init__(self, vocabulary=2000, width=48, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.attend = Attention(width)
        self.classify = nn.Linear(width, classes)

    def forward(self, tokens):
        return self.classify(self.attend(self.embed(tokens)).mean(dim=1))


encoder = SentenceEncoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
tokens = torch.randint(0, 2000, (128, 12))
topics = torch.randint(0, 4, (128,))
for start in range(0, 128, 16):
    optimizer.zero_grad()
    loss = F.cross_entropy(encoder(tokens[start : start + 16]), topics[start : start + 16])
    loss.backward()
    optimizer.step()
