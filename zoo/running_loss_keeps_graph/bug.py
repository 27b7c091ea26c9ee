import torch
from torch import nn

torch.manual_seed(0)
TEXT = "the quick brown fox jumps over the lazy dog and the lazy dog sleeps in the warm sun "
CHARS = sorted(set(TEXT))
SEQ, BATCH, EPOCHS = 16, 24, 6


class CharLSTM(nn.Module):
    def __init__(self, vocab, hidden=48):
        super().__init__()
        self.embedding = nn.Embedding(vocab, 16)
        self.lstm = nn.LSTM(16, hidden, batch_first=True)
        self.decoder = nn.Linear(hidden, vocab)

    def forward(self, x):
        out, _ = self.lstm(self.embedding(x))
        return self.decoder(out)


codes = torch.tensor([CHARS.index(c) for c in TEXT * 60])
windows = codes[: len(codes) // (SEQ + 1) * (SEQ + 1)].view(-1, SEQ + 1)
windows = windows[torch.randperm(len(windows))]

model = CharLSTM(len(CHARS))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(EPOCHS):
    epoch_loss = 0
    batches = windows.split(BATCH)
    for batch in batches:
        optimizer.zero_grad()
        logits = model(batch[:, :-1])
        loss = criterion(logits.reshape(-1, len(CHARS)), batch[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        epoch_loss += loss
    print(f"epoch {epoch} loss {epoch_loss / len(batches):.4f}")
