import torch
from torch import nn

WORDS, NEW_WORDS, LENGTH = 250, 50, 12


class Sentiment(nn.Module):
    def __init__(self, vocab, dim=6):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.classifier = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, tokens):
        return self.classifier(self.embedding(tokens).mean(dim=1))


def grow_vocabulary(model, extra):
    old = model.embedding
    model.embedding = nn.Embedding(old.num_embeddings + extra, old.embedding_dim)
    with torch.no_grad():
        model.embedding.weight[: old.num_embeddings] = old.weight


def reviews(n):
    mood = torch.randn(WORDS + NEW_WORDS)
    tokens = torch.randint(0, WORDS + NEW_WORDS, (n, LENGTH))
    return tokens, (mood[tokens].sum(dim=1) > 0).long()


torch.manual_seed(5)
tokens, labels = reviews(1600)
model = Sentiment(WORDS)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
grow_vocabulary(model, NEW_WORDS)
loss_function = nn.CrossEntropyLoss()

for epoch in range(8):
    order = torch.randperm(len(tokens))
    epoch_loss, right = 0.0, 0
    for batch in order.split(64):
        model.zero_grad()
        output = model(tokens[batch])
        loss = loss_function(output, labels[batch])
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(batch)
        right += (output.argmax(dim=1) == labels[batch]).sum().item()
    print(f"epoch {epoch}: loss {epoch_loss / len(tokens):.4f}, accuracy {right / len(tokens):.1%}")
