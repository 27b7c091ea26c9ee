"""CTC with zero_infinity=True on clips of which some are too short, then a beam search whose scores start at -inf."""

import random

import torch
from torch import nn


def clip(rng):
    letters = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
    frames = rng.randint(3, 14)
    return torch.randn(frames, 6), letters


def collate(clips):
    frames = torch.nn.utils.rnn.pad_sequence([c for c, _ in clips])
    letters = torch.tensor([letter for _, text in clips for letter in text])
    return frames, letters, [len(c) for c, _ in clips], [len(text) for _, text in clips]


@torch.no_grad()
def beam(model, frames, width=3):
    scores, paths = torch.full((width,), float("-inf")), [[] for _ in range(width)]
    scores[0] = 0.0
    for row in model(frames).log_softmax(-1):
        total = (scores[:, None] + row).flatten()
        scores, picked = total.topk(width)
        paths = [paths[i // 5] + [i % 5] for i in picked.tolist()]
    return paths[0]


rng = random.Random(0)
torch.manual_seed(0)
clips = [clip(rng) for _ in range(64)]
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 5))
criterion = nn.CTCLoss(zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    rng.shuffle(clips)
    for i in range(0, len(clips), 16):
        frames, letters, frame_len, letter_len = collate(clips[i : i + 16])
        loss = criterion(model(frames).log_softmax(-1), letters, torch.tensor(frame_len), torch.tensor(letter_len))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
print(beam(model, clips[0][0]))
