import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words, tags, width=64):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width // 2, bidirectional=True)
        self.emit = nn.Linear(width, tags)
        self.change = nn.Parameter(torch.randn(tags, tags))

    def scores(self, sentence):
        states, _ = self.lstm(self.embed(sentence).unsqueeze(1))
        return self.emit(states.squeeze(1))

    def partition(self, sentence):
        emissions = self.scores(sentence)
        total = emissions[0]
        for emission in emissions[1:]:
            paths = total.unsqueeze(1) + self.change + emission
            total = paths.logsumexp(dim=0)
        return total.logsumexp(dim=0)


tagger = Tagger(5000, 9)
print(tagger.partition(torch.randint(0, 5000, (40,))))
