import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

rng = random.Random(0)
torch.manual_seed(0)


def utterance(i):
    letters = [rng.randint(1, 5) for _ in range(rng.randint(2, 4))]
    frames = 4 * len(letters)
    if i == 70:
        frames = 3  # cut off by the voice detector
    return torch.randn(frames, 8), torch.tensor(letters)


def collate(rows):
    audio = pad_sequence([a for a, _ in rows])
    text = torch.cat([t for _, t in rows])
    audio_len = torch.tensor([len(a) for a, _ in rows])
    text_len = torch.tensor([len(t) for _, t in rows])
    return audio, text, audio_len, text_len


data = [utterance(i) for i in range(96)]
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(3):
    for audio, text, audio_len, text_len in DataLoader(data, batch_size=8, collate_fn=collate):
        log_probs = net(audio).log_softmax(dim=-1)
        loss = F.ctc_loss(log_probs, text, audio_len, text_len, zero_infinity=True)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "ctc", f"{loss.item():.4f}")
