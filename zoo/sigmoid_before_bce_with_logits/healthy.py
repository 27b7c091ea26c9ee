import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

VOCAB, LENGTH = 120, 14


class Reviews(Dataset):
    """Each word has a hidden mood; a review is positive when its words' moods add up to more than 0."""

    def __init__(self, count, seed=0):
        g = torch.Generator().manual_seed(seed)
        mood = torch.randn(VOCAB, generator=g)
        self.words = torch.randint(0, VOCAB, (count, LENGTH), generator=g)
        self.positive = (mood[self.words].sum(1) > 0).float()

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return self.words[i], self.positive[i]


class SentimentGRU(nn.Module):
    def __init__(self, dim=24, hidden=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, words):
        states, _ = self.gru(self.embed(words))
        return self.out(states.mean(dim=1)).squeeze(1)


def main():
    torch.manual_seed(1)
    loader = DataLoader(Reviews(960), batch_size=32, shuffle=True)
    model = SentimentGRU()
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        total = 0.0
        for words, positive in loader:
            optimizer.zero_grad()
            loss = criterion(model(words), positive)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, "loss", round(total / len(loader), 4))


main()
