"""Tags for texts: of 40 labels a text has two or so, BCE with logits and pos_weight, and a bias that starts at the prior."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

TAGS, WORDS = 40, 200


class Texts(Dataset):
    """Each tag has four words of its own; a text is a bag of words of different lengths."""

    def __init__(self, count, generator):
        self.bags, self.tags = [], torch.zeros(count, TAGS)
        for n in range(count):
            many = torch.randint(1, 4, (1,), generator=generator).item()
            mine = torch.randperm(TAGS, generator=generator)[:many]
            words = (mine[:, None] * 4 + torch.randint(0, 4, (many, 3), generator=generator)).flatten()
            noise = torch.randint(0, WORDS, (4,), generator=generator)
            self.bags.append(torch.cat([words, noise]))
            self.tags[n, mine] = 1.0

    def __len__(self):
        return len(self.bags)

    def __getitem__(self, i):
        return self.bags[i], self.tags[i]


def collate(batch):
    bags, tags = zip(*batch)
    lengths = torch.tensor([0] + [len(b) for b in bags[:-1]])
    return torch.cat(bags), lengths.cumsum(0), torch.stack(tags)


class Tagger(nn.Module):
    def __init__(self, prior):
        super().__init__()
        self.bag = nn.EmbeddingBag(WORDS, 48, mode="mean")
        self.hidden = nn.Linear(48, 64)
        self.out = nn.Linear(64, TAGS)
        nn.init.constant_(self.out.bias, torch.logit(torch.tensor(prior)).item())

    def forward(self, words, offsets):
        return self.out(torch.relu(self.hidden(self.bag(words, offsets))))


@torch.no_grad()
def f1(model, loader):
    hit = guessed = true = 0
    for words, offsets, tags in loader:
        guess = model(words, offsets) > 0
        hit += (guess & (tags > 0)).sum().item()
        guessed, true = guessed + guess.sum().item(), true + int(tags.sum().item())
    return 2 * hit / (guessed + true)


generator = torch.Generator().manual_seed(8)
torch.manual_seed(8)
data, held = Texts(2400, generator), Texts(400, generator)
loader = DataLoader(data, batch_size=32, shuffle=True, collate_fn=collate)
held_loader = DataLoader(held, batch_size=200, collate_fn=collate)
model = Tagger(prior=data.tags.mean().item())
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.full((TAGS,), 3.0))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
print(f"share of ones in the targets {data.tags.mean():.3f}")
for epoch in range(8):
    losses = []
    for words, offsets, tags in loader:
        loss = criterion(model(words, offsets), tags)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f} F1 {f1(model, held_loader):.3f}")
