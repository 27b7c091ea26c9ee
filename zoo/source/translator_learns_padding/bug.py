import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


class Translator(nn.Module):
    def __init__(self, source_words, target_words, width=128):
        super().__init__()
        self.embed_source = nn.Embedding(source_words, width)
        self.embed_target = nn.Embedding(target_words, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.generator = nn.Linear(width, target_words)

    def forward(self, source, target):
        _, state = self.encoder(self.embed_source(source))
        output, _ = self.decoder(self.embed_target(target), state)
        return self.generator(output)


def batch_of(pairs, pad_id):
    source = pad_sequence([pair[0] for pair in pairs], batch_first=True, padding_value=pad_id)
    target = pad_sequence([pair[1] for pair in pairs], batch_first=True, padding_value=pad_id)
    return source, target


def train(batches, model, optimizer, pad_id):
    model.train()
    for pairs in batches:
        source, target = batch_of(pairs, pad_id)
        logits = model(source, target[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), target[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
