"""A GRU encoder and decoder with attention that sorts short sequences; teacher forcing half of the time, padding masked."""

import random

import torch
import torch.nn.functional as F
from torch import nn

PAD, SOS, EOS, FIRST, VOCAB = 0, 1, 2, 3, 13


def make_batch(count):
    pairs = []
    for _ in range(count):
        source = [random.randrange(FIRST, VOCAB) for _ in range(random.randint(3, 6))]
        pairs.append((source, [*sorted(source), EOS]))
    sources = nn.utils.rnn.pad_sequence([torch.tensor(s) for s, _ in pairs], batch_first=True)
    targets = nn.utils.rnn.pad_sequence([torch.tensor(t) for _, t in pairs], batch_first=True)
    return sources, torch.tensor([len(s) for s, _ in pairs]), targets


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, width, padding_idx=PAD)
        self.gru = nn.GRU(width, width, batch_first=True)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        outputs, hidden = self.gru(packed)
        return nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)[0], hidden


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, width)
        self.query = nn.Linear(width, width, bias=False)
        self.gru = nn.GRU(2 * width, width, batch_first=True)
        self.out = nn.Linear(2 * width, VOCAB)

    def forward(self, token, hidden, memory, mask):
        score = torch.bmm(self.query(hidden[0]).unsqueeze(1), memory.transpose(1, 2))
        weights = F.softmax(score.masked_fill(mask.unsqueeze(1), float("-inf")), dim=-1)
        context = torch.bmm(weights, memory)
        output, hidden = self.gru(torch.cat([self.embedding(token), context], dim=-1), hidden)
        return self.out(torch.cat([output, context], dim=-1)).squeeze(1), hidden


def run(encoder, decoder, sources, lengths, targets, forcing):
    memory, hidden = encoder(sources, lengths)
    mask = sources == PAD
    token = torch.full((len(sources), 1), SOS)
    loss, guesses = 0, []
    for t in range(targets.shape[1]):
        logits, hidden = decoder(token, hidden, memory, mask)
        loss = loss + F.cross_entropy(logits, targets[:, t], ignore_index=PAD, reduction="sum")
        guess = logits.argmax(-1)
        guesses.append(guess)
        token = (targets[:, t] if random.random() < forcing else guess.detach()).unsqueeze(1)
    return loss / (targets != PAD).sum(), torch.stack(guesses, dim=1)


random.seed(0)
torch.manual_seed(0)
encoder, decoder = Encoder(48), Decoder(48)
encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=4e-3)
decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=4e-3)
for step in range(1, 301):
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    loss, _ = run(encoder, decoder, *make_batch(48), forcing=0.5)
    loss.backward()
    nn.utils.clip_grad_norm_([*encoder.parameters(), *decoder.parameters()], 1.0)
    encoder_optimizer.step()
    decoder_optimizer.step()
    if step % 50 == 0:
        with torch.no_grad():
            sources, lengths, targets = make_batch(200)
            _, guesses = run(encoder, decoder, sources, lengths, targets, forcing=0.0)
            right = ((guesses == targets) | (targets == PAD)).all(dim=1).float().mean()
        print(f"step {step}: loss {loss.item():.4f} sequences sorted {right:.3f}")
