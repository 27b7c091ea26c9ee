"""A character-level GPT with weights tied between embedding and output, no decay for biases and norms, and sampling."""

import math

import torch
from torch import nn
from torch.nn import functional as F

TEXT = """the owl sat in the oak and the fox sat under the oak. the owl said to the fox: come up to me.
the fox said to the owl: come down to me. the owl would not come down and the fox could not come up.
so the owl sat in the oak, and the fox sat under the oak, until the sun went down. then the owl flew
over the hill to the old mill, and the fox ran home to the den under the hill. """
CHARS = sorted(set(TEXT))
BLOCK, WIDTH, HEADS = 32, 48, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(n, t, c))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.token = nn.Embedding(len(CHARS), WIDTH)
        self.position = nn.Embedding(BLOCK, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(CHARS), bias=False)
        self.head.weight = self.token.weight
        self.apply(self._init)
        for name, p in self.named_parameters():
            if name.endswith(("out.weight", "mlp.2.weight")):
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * layers))

    @staticmethod
    def _init(module):
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, idx, targets=None):
        x = self.token(idx) + self.position(torch.arange(idx.shape[1]))
        logits = self.head(self.norm(self.blocks(x)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))

    @torch.no_grad()
    def generate(self, idx, count):
        self.eval()
        for _ in range(count):
            logits, _ = self(idx[:, -BLOCK:])
            idx = torch.cat([idx, torch.multinomial(F.softmax(logits[:, -1] / 0.7, dim=-1), 1)], dim=1)
        self.train()
        return idx


torch.manual_seed(1337)
data = torch.tensor([CHARS.index(c) for c in TEXT])
model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
plain = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}], lr=3e-3, betas=(0.9, 0.95)
)
for it in range(301):
    start = torch.randint(len(data) - BLOCK - 1, (16,))
    xb = torch.stack([data[i : i + BLOCK] for i in start])
    yb = torch.stack([data[i + 1 : i + 1 + BLOCK] for i in start])
    _, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if it % 50 == 0:
        print(f"iter {it}: loss {loss.item():.4f}")
print("".join(CHARS[i] for i in model.generate(data[None, :4], 60)[0].tolist()))
