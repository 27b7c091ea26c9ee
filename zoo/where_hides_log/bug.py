import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    """Bags of words; later documents are shorter."""

    def __init__(self, n=200, vocab=20):
        g = torch.Generator().manual_seed(1)
        rate = torch.linspace(60.0, 3.0, n)[:, None].expand(n, vocab)
        self.counts = torch.poisson(rate, generator=g)
        self.topic = (self.counts[:, :10].sum(1) > self.counts[:, 10:].sum(1)).long()

    def __len__(self):
        return len(self.topic)

    def __getitem__(self, i):
        return self.counts[i], self.topic[i]


class TopicModel(nn.Module):
    def __init__(self, vocab=20):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(vocab))
        self.out = nn.Linear(vocab, 2)

    def forward(self, count):
        count = count * self.scale
        weight = torch.where(count > 0, torch.log(count), torch.zeros_like(count))
        return self.out(weight)


def main():
    torch.manual_seed(0)
    model = TopicModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(4):
        for count, topic in DataLoader(Documents(), batch_size=20):
            optimizer.zero_grad(set_to_none=False)
            loss = nn.functional.cross_entropy(model(count), topic)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
