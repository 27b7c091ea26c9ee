from torch import nn

from .attention import SelfAttention


class Classifier(nn.Module):
    def __init__(self, vocab, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.attend = SelfAttention(width)
        self.head = nn.Linear(width, 2)

    def forward(self, words, padding):
        x = self.embed(words)
        x = x + self.attend(x, padding)
        keep = (~padding).unsqueeze(-1).float()
        return self.head((x * keep).sum(1) / keep.sum(1).clamp(min=1))
