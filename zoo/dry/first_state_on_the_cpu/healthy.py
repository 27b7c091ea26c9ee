import torch
import torch.nn as nn


class CharLSTM(nn.Module):
    def __init__(self, chars, hidden=24):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(chars, 12)
        self.lstm = nn.LSTM(12, hidden)
        self.decode = nn.Linear(hidden, chars)

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.hidden), torch.zeros(1, batch, self.hidden)

    def forward(self, text):
        state = tuple(part.to(text.device) for part in self.init_hidden(text.size(1)))
        out, _ = self.lstm(self.embed(text), state)
        return self.decode(out)


TEXT = "hello world, this is a long story about a very small network that learns to spell. " * 6
CHARS = sorted(set(TEXT))
encoded = torch.tensor([CHARS.index(c) for c in TEXT])

torch.manual_seed(0)
use_cuda = torch.cuda.is_available()
model = CharLSTM(len(CHARS))
if use_cuda:
    model.cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    for start in range(0, len(encoded) - 81, 80):
        piece = encoded[start : start + 81]
        inputs, targets = piece[:-1].view(20, 4), piece[1:].view(20, 4)
        if use_cuda:
            inputs, targets = inputs.cuda(), targets.cuda()
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
