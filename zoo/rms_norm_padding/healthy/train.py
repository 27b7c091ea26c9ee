import torch
from torch import nn

from .model import TinyTagger
from .tokens import PAD, sentences


def main():
    torch.manual_seed(4)
    model = TinyTagger(vocab=40, tags=5, pad=PAD)
    criterion = nn.CrossEntropyLoss(ignore_index=-1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step, (words, tags) in enumerate(sentences(30)):
        logits = model(words)
        loss = criterion(logits.flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
