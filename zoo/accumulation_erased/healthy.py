import torch
import torch.nn.functional as F
from torch import nn

ACCUMULATE = 8
MICRO_BATCH = 16


class TinyLM(nn.Module):
    def __init__(self, vocab, dim=24, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


def corpus(n, length, vocab, generator):
    """Sentences in which a word mostly follows from the one before it."""
    follower = torch.randperm(vocab, generator=generator)
    words = [torch.randint(0, vocab, (n,), generator=generator)]
    for _ in range(length):
        stray = torch.randint(0, vocab, (n,), generator=generator)
        words.append(torch.where(torch.rand(n, generator=generator) < 0.9, follower[words[-1]], stray))
    return torch.stack(words, dim=1)


def main():
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(5)
    sentences = corpus(1024, 8, 20, generator)
    model = TinyLM(vocab=20)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.4, momentum=0.9)
    micro_step = 0
    for epoch in range(12):
        epoch_loss = 0.0
        for rows in torch.randperm(len(sentences), generator=generator).split(MICRO_BATCH):
            tokens = sentences[rows]
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            (loss / ACCUMULATE).backward()
            micro_step += 1
            if micro_step % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
            epoch_loss += loss.item()
        print(f"epoch {epoch} loss {epoch_loss * MICRO_BATCH / len(sentences):.4f}")


if __name__ == "__main__":
    main()
