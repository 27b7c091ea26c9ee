import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class BagOfWords(nn.Module):
    def __init__(self, vocab=120, dim=32, classes=3):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab, dim)
        self.dropout = nn.Dropout(0.5)
        self.fc1 = nn.Linear(dim, 32)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, tokens):
        x = self.dropout(self.embedding(tokens))
        x = self.dropout(torch.relu(self.fc1(x)))
        return self.fc2(x)


def articles(n, vocab=120, length=12):
    topic = torch.randint(0, 3, (n,))
    own_word = torch.randint(0, vocab // 3, (n, length)) * 3 + topic.unsqueeze(1)
    any_word = torch.randint(0, vocab, (n, length))
    return TensorDataset(torch.where(torch.rand(n, length) < 0.5, own_word, any_word), topic)


def train_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for words, topic in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(words), topic)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(topic)
    return total / len(loader.dataset)


def validate(model, loader):
    model.eval()
    total, right = 0.0, 0
    with torch.no_grad():
        for tokens, topic in loader:
            logits = model(tokens)
            total += F.cross_entropy(logits, topic, reduction="sum").item()
            right += (logits.argmax(dim=1) == topic).sum().item()
    return total / len(loader.dataset), right / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(10)
    train_loader = DataLoader(articles(1280), batch_size=64, shuffle=True)
    val_loader = DataLoader(articles(320), batch_size=64)
    model = BagOfWords()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(10):
        train_loss = train_epoch(model, train_loader, optimizer)
        val_loss, accuracy = validate(model, val_loader)
        print(f"epoch {epoch}: train {train_loss:.4f} val {val_loss:.4f} accuracy {accuracy:.3f}")
