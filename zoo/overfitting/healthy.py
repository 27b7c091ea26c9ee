import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, LENGTH = 150, 12
EMBEDDING_DIM = 200
TRAIN_SENTENCES = 4800


class TextClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, EMBEDDING_DIM)
        self.fc1 = nn.Linear(EMBEDDING_DIM, 64)
        self.fc2 = nn.Linear(64, 2)

    def forward(self, sentence):
        pooled = self.embedding(sentence).mean(dim=1)
        return self.fc2(torch.relu(self.fc1(pooled)))


def sentences(count, mood):
    words = torch.randint(0, VOCAB, (count, LENGTH))
    score = mood[words].sum(dim=1) + torch.randn(count)
    return TensorDataset(words, (score > 0).long())


def evaluate(model, criterion, dataset):
    model.eval()
    words, label = dataset.tensors
    with torch.no_grad():
        val_loss = criterion(model(words), label)
    model.train()
    return val_loss.item()


def main():
    torch.manual_seed(1)
    mood = torch.randn(VOCAB)
    train_set, val_set = sentences(TRAIN_SENTENCES, mood), sentences(400, mood)
    loader = DataLoader(train_set, batch_size=16, shuffle=True)
    model = TextClassifier()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    while step < 300:
        for words, label in loader:
            optimizer.zero_grad()
            loss = criterion(model(words), label)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 20 == 0:
                print(f"step {step:3d} train {loss.item():.4f} val {evaluate(model, criterion, val_set):.4f}")


if __name__ == "__main__":
    main()
