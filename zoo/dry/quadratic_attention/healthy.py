import torch
from torch import nn


class LongReader(nn.Module):
    def __init__(self, vocabulary=500, dim=256, heads=16):
        super().__init__()
        self.heads = heads
        self.embed = nn.Embedding(vocabulary, dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, vocabulary)

    def forward(self, tokens):
        b, t = tokens.shape
        q, k, v = self.qkv(self.embed(tokens)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        scores = scores + torch.full((t, t), float("-inf"), device=tokens.device).triu(1)
        x = torch.softmax(scores, dim=-1) @ v
        return self.out(x.transpose(1, 2).reshape(b, t, -1))


CONTEXT = 48
BATCH = 4

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = LongReader().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
for step in range(3):
    tokens = torch.randint(500, (BATCH, CONTEXT + 1)).to(device)
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
