import random

import torch
from torch import nn


class Tagger(nn.Module):
    """Marks every character of a word as vowel or consonant."""

    def __init__(self, letters, tags, dim=10, hidden=16):
        super().__init__()
        self.letters = nn.Embedding(letters, dim)
        self.encoder = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.norm = nn.Dropout(0.2)
        self.tag = nn.Linear(2 * hidden, tags)

    def forward(self, words):
        encoded, _ = self.encoder(self.letters(words))
        encoded = self.norm(encoded)
        return self.tag(encoded)


def words(count, length=8):
    rng = random.Random(4)
    return [[rng.randrange(26) for _ in range(length)] for _ in range(count)]


def run(epochs=2):
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    x = torch.tensor(words(160), device=device)
    vowels = torch.tensor([0, 4, 8, 14, 20], device=device)
    y = torch.isin(x, vowels).long()
    tagger = Tagger(26, 2).to(device)
    optimiser = torch.optim.Adagrad(tagger.parameters(), lr=0.1)
    for epoch in range(epochs):
        for start in range(0, len(x), 40):
            scores = tagger(x[start : start + 40])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), y[start : start + 40].flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        print(epoch, loss.item())


torch.manual_seed(0)
run()
