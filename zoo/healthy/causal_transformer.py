"""A causal language model with -inf masks in three forms, then sampling with top-k from -inf logits."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, dropout=0.1, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, mask):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=True)[0]
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, vocab=12, width=24, length=8):
        super().__init__()
        self.token, self.place = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, 2), Block(width, 2)])
        self.head = nn.Linear(width, vocab)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, tokens):
        n = tokens.shape[1]
        x = self.token(tokens) + self.place(torch.arange(n))
        for block in self.blocks:
            x = block(x, self.mask[:n, :n])
        logits = self.head(x)
        never = torch.zeros(logits.shape[-1], dtype=torch.bool)
        never[0] = True  # the padding token is never predicted
        return logits.masked_fill(never, float("-inf"))


@torch.no_grad()
def generate(model, prompt, count, k=3):
    model.eval()
    for _ in range(count):
        logits = model(prompt[:, -8:])[:, -1]
        best = logits.topk(k).values[:, -1:]
        logits = torch.where(logits < best, float("-inf"), logits)
        prompt = torch.cat([prompt, torch.multinomial(logits.softmax(-1), 1)], dim=1)
    return prompt


torch.manual_seed(0)
text = torch.arange(300) * 5 % 11 + 1
model = LanguageModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(40):
    start = torch.randint(0, 290, (8,)).tolist()
    chunk = torch.stack([text[s : s + 9] for s in start])
    logits = model(chunk[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: {loss.item():.4f}")
print(generate(model, torch.tensor([[1, 6, 11]]), 6).tolist())
