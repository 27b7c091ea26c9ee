import torch
from torch import nn, optim

VOCAB, LENGTH, CLASSES = 30, 10, 4


class SequenceClassifier(nn.Module):
    def __init__(self, embed=12, hidden=32):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, embed)
        self.gru = nn.GRU(embed, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, CLASSES)

    def forward(self, tokens):
        _, state = self.gru(self.embedding(tokens))
        last = state[-1].data
        return self.fc(last)


def make_sequences(n):
    """Which of four marker tokens stands in the sequence?"""
    tokens = torch.randint(CLASSES, VOCAB, (n, LENGTH))
    labels = torch.randint(0, CLASSES, (n,))
    tokens[torch.arange(n), torch.randint(0, LENGTH, (n,))] = labels
    return tokens, labels


def train_epoch(model, tokens, labels, optimizer, criterion, batch_size=64):
    model.train()
    losses, hits = [], 0
    for index in torch.randperm(len(tokens)).split(batch_size):
        logits = model(tokens[index])
        loss = criterion(logits, labels[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        hits += int((logits.argmax(dim=1) == labels[index]).sum())
    return sum(losses) / len(losses), hits / len(tokens)


def main():
    torch.manual_seed(13)
    tokens, labels = make_sequences(1280)
    model = SequenceClassifier()
    optimizer = optim.Adam(model.parameters(), lr=8e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        loss, accuracy = train_epoch(model, tokens, labels, optimizer, criterion)
        print(f"[{epoch + 1:2d}] loss {loss:.4f} accuracy {accuracy:.2%}")


main()
