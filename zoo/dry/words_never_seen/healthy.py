import re
from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader

CORPUS = """the cat sat on the mat . a dog ran in the park . the cat saw a dog . a bird sang on the roof .
the dog sat in the sun . a cat ran on the roof . the bird saw the cat . the sun shone in the park ."""


class Vocabulary:
    def __init__(self, text, minimum=1):
        counts = Counter(re.findall(r"\S+", text))
        self.words = [word for word, n in counts.most_common() if n >= minimum]
        self.index = {word: i for i, word in enumerate(self.words)}

    def __len__(self):
        return len(self.words)

    def encode(self, text):
        unknown = len(self.words)
        return [self.index.get(word, unknown) for word in text.split()]


class BagOfWords(nn.Module):
    def __init__(self, words, dim=8):
        super().__init__()
        self.embed = nn.Embedding(words + 1, dim)
        self.predict = nn.Linear(dim, words)

    def forward(self, context):
        return self.predict(self.embed(context).mean(1))


def pairs(tokens, window=2):
    for i in range(window, len(tokens) - window):
        yield torch.tensor(tokens[i - window : i] + tokens[i + 1 : i + window + 1]), tokens[i]


vocabulary = Vocabulary(CORPUS, minimum=2)
data = [(context, word) for context, word in pairs(vocabulary.encode(CORPUS)) if word < len(vocabulary)]
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = BagOfWords(len(vocabulary)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for epoch in range(3):
    for context, word in DataLoader(data, batch_size=8, shuffle=True):
        loss = nn.functional.cross_entropy(model(context.to(device)), word.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
