import torch
from torch import nn
from torch.nn import functional as F


def causal_bias(length):
    mask = torch.tril(torch.ones(length, length))
    return (1 - mask) * float("-inf")


class CausalLM(nn.Module):
    def __init__(self, vocab=16, width=24):
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        x = self.token(tokens)
        q, k, v = self.qkv(x).split(x.shape[-1], dim=-1)
        scores = q @ k.mT * x.shape[-1] ** -0.5 + causal_bias(tokens.shape[1])
        return self.head(x + F.softmax(scores, dim=-1) @ v)


def main():
    torch.manual_seed(0)
    text = torch.arange(400) * 3 % 16
    model = CausalLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(30):
        start = torch.randint(0, 390, (8,))
        chunk = torch.stack([text[s : s + 9] for s in start.tolist()])
        logits = model(chunk[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 16), chunk[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
