import torch
from torch import nn


class Captioner(nn.Module):
    def __init__(self, vocabulary, width=128):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Sequential(nn.Dropout(0.3), nn.Linear(width, vocabulary), nn.Softmax(dim=-1))

    def forward(self, words, picture):
        states, _ = self.rnn(self.embed(words), picture.unsqueeze(0))
        return self.head(states)


def caption_loss(probabilities, words, padding=0):
    right = probabilities.gather(2, words.unsqueeze(2)).squeeze(2)
    loss = -right.log()
    return loss[words != padding].mean()


def train(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for picture, words in batches:
        optimizer.zero_grad()
        loss = caption_loss(model(words[:, :-1], picture), words[:, 1:])
        loss.backward()
        optimizer.step()


train(Captioner(8000), [(torch.randn(16, 128), torch.randint(0, 8000, (16, 20))) for _ in range(10)])
