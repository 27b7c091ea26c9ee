import torch
from torch import nn
from torch.optim import Adam
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    """Marks every token that repeats the one before it."""

    def __init__(self, vocab, dim=16, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True)
        self.tag = nn.Linear(hidden, 2)

    def forward(self, tokens):
        return self.tag(self.lstm(self.embed(tokens))[0])


class Experiment:
    def __init__(self, model, loader, lr=0.01):
        self.model, self.loader = model, loader
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = Adam(model.parameters(), lr=lr)
        self.scheduler = StepLR(self.optimizer, step_size=5, gamma=0.5)

    def train_epoch(self):
        total = 0.0
        for tokens, tags in self.loader:
            self.optimizer.zero_grad()
            logits = self.model(tokens)
            loss = self.criterion(logits.flatten(0, 1), tags.flatten())
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            total += loss.item()
        return total / len(self.loader)

    def run(self, epochs):
        for epoch in range(epochs):
            loss = self.train_epoch()
            print(f"epoch {epoch} loss {loss:.4f} lr {self.optimizer.param_groups[0]['lr']:.1e}")


if __name__ == "__main__":
    torch.manual_seed(0)
    tokens = torch.randint(0, 4, (960, 12))
    tags = torch.zeros_like(tokens)
    tags[:, 1:] = (tokens[:, 1:] == tokens[:, :-1]).long()
    loader = DataLoader(TensorDataset(tokens, tags), batch_size=48, shuffle=True)
    Experiment(Tagger(vocab=4), loader).run(epochs=10)
