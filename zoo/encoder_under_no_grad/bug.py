import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TextClassifier(nn.Module):
    def __init__(self, vocab=40, dim=16, length=8, classes=2):
        super().__init__()
        self.token = nn.Embedding(vocab, dim)
        self.position = nn.Parameter(0.1 * torch.randn(length, dim))
        layer = nn.TransformerEncoderLayer(dim, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.head = nn.Linear(dim, classes)

    def encode(self, tokens):
        return self.encoder(self.token(tokens) + self.position)

    def forward(self, tokens):
        with torch.no_grad():
            encoded = self.encode(tokens)
        return self.head(encoded.mean(dim=1))


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.loss_fn = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total, seen = 0.0, 0
            for tokens, labels in loader:
                self.optimizer.zero_grad()
                loss = self.loss_fn(self.model(tokens), labels)
                loss.backward()
                self.optimizer.step()
                total, seen = total + loss.item() * len(labels), seen + len(labels)
            print(f"epoch {epoch + 1}: train loss {total / seen:.4f}")


if __name__ == "__main__":
    torch.manual_seed(8)
    tokens = torch.randint(0, 40, (1024, 8))
    labels = ((tokens < 10).sum(dim=1) > (tokens >= 30).sum(dim=1)).long()
    loader = DataLoader(TensorDataset(tokens, labels), batch_size=64, shuffle=True)
    Trainer(TextClassifier(), lr=5e-3).fit(loader, epochs=10)
