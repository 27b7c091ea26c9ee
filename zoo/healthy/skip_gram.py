"""Word2vec, skip-gram with negative sampling; sparse gradients and SparseAdam, output vectors that start at zero."""

import random

import torch
from torch import nn
from torch.nn import functional as F

GROUPS = [
    "cat dog horse cow sheep hen".split(),
    "bread milk cheese apple soup rice".split(),
    "rain snow wind sun cloud storm".split(),
    "red blue green white black grey".split(),
]
GLUE = "the a and with of then".split()
WORDS = [w for group in GROUPS for w in group] + GLUE
INDEX = {w: i for i, w in enumerate(WORDS)}


def corpus(sentences):
    """In each sentence the words of one group meet, with small words in between."""
    for _ in range(sentences):
        group = random.choice(GROUPS)
        yield [INDEX[random.choice(group) if random.random() < 0.7 else random.choice(GLUE)] for _ in range(10)]


def pairs_of(sentences, window=2):
    found = []
    for words in sentences:
        for i, centre in enumerate(words):
            for j in range(max(0, i - window), min(len(words), i + window + 1)):
                if j != i:
                    found.append((centre, words[j]))
    random.shuffle(found)
    return torch.tensor(found)


class SkipGram(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.centre = nn.Embedding(vocab, width, sparse=True)
        self.context = nn.Embedding(vocab, width, sparse=True)
        nn.init.uniform_(self.centre.weight, -0.5 / width, 0.5 / width)
        nn.init.zeros_(self.context.weight)

    def forward(self, centre, context, negatives):
        c = self.centre(centre)
        positive = (c * self.context(context)).sum(dim=1)
        negative = torch.bmm(self.context(negatives), c.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(positive) + F.logsigmoid(-negative).sum(dim=1)).mean()


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    pairs = pairs_of(corpus(600))
    weight = torch.bincount(pairs[:, 1], minlength=len(WORDS)).float() ** 0.75
    model = SkipGram(len(WORDS), 16)
    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=5e-3)
    for epoch in range(4):
        total, count = 0.0, 0
        for batch in pairs.split(200):
            negatives = torch.multinomial(weight, len(batch) * 5, replacement=True).view(len(batch), 5)
            loss = model(batch[:, 0], batch[:, 1], negatives)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, count = total + loss.item(), count + 1
        print(f"epoch {epoch}: loss {total / count:.4f} over {count} batches")
    vectors = F.normalize(model.centre.weight.detach(), dim=1)
    for word in ("cat", "bread", "snow", "red"):
        near = (vectors @ vectors[INDEX[word]]).topk(4).indices.tolist()[1:]
        print(word, "->", ", ".join(WORDS[i] for i in near))
