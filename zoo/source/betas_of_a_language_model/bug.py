import torch
import torch.nn.functional as F
from torch import nn

config = {"width": 128, "heads": 4, "layers": 2, "vocab": 96, "context": 64}
BETAS = (0.9, 1.0)


class CharModel(nn.Module):
    def __init__(self, width, heads, layers, vocab, context):
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        self.place = nn.Embedding(context, width)
        block = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.1, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, layers)
        self.head = nn.Linear(width, vocab)

    def forward(self, text):
        length = text.shape[1]
        x = self.token(text) + self.place(torch.arange(length, device=text.device))
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=text.device)
        return self.head(self.blocks(x, mask=mask, is_causal=True))


def train(text, steps=1000):
    model = CharModel(**config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=BETAS, weight_decay=0.1)
    for _ in range(steps):
        start = torch.randint(len(text) - config["context"] - 1, (32,))
        rows = torch.stack([text[i : i + config["context"] + 1] for i in start.tolist()])
        logits = model(rows[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return model
