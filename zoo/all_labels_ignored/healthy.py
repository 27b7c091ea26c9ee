import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

IGNORE = -100


class Corpus(Dataset):
    """Masked-token data: only a few positions have a label."""

    def __init__(self, sentences=64, length=6, rate=0.15, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.tokens = torch.randint(3, 30, (sentences, length), generator=g)
        chosen = torch.rand(sentences, length, generator=g) < rate
        self.labels = self.tokens.masked_fill(~chosen, IGNORE)
        self.inputs = self.tokens.masked_fill(chosen, 1)

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, i):
        return self.inputs[i], self.labels[i]


class Masked(torch.nn.Module):
    def __init__(self, vocab=30, width=24):
        super().__init__()
        self.embed = torch.nn.Embedding(vocab, width)
        self.mix = torch.nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.head = torch.nn.Linear(2 * width, vocab)

    def forward(self, tokens):
        hidden, _ = self.mix(self.embed(tokens))
        return self.head(hidden)


torch.manual_seed(1)
model = Masked()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loader = DataLoader(Corpus(), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(2))
for epoch in range(3):
    for inputs, labels in loader:
        logits = model(inputs)
        total = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE, reduction="sum")
        loss = total / (labels != IGNORE).sum().clamp(min=1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
