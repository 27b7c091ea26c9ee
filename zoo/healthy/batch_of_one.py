"""Online learning: one sample per step, so the printed loss jumps wildly while its running mean falls; variable lengths."""

import random

import torch
from torch import nn

CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwxyz", "aeiou"
LETTERS = CONSONANTS + VOWELS
LANGUAGES = ["north", "south", "east"]


def word(language):
    """Names of the north end in two consonants, those of the south in a vowel, those of the east begin with one."""
    middle = [random.choice(CONSONANTS) + random.choice(VOWELS) for _ in range(random.randint(1, 3))]
    text = "".join(middle)
    if language == "north":
        return text + random.choice(CONSONANTS) + random.choice(CONSONANTS)
    if language == "south":
        return text
    return random.choice(VOWELS) + text + random.choice(CONSONANTS)


class CharRNN(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.RNN(len(LETTERS), hidden)
        self.out = nn.Linear(hidden, len(LANGUAGES))

    def forward(self, letters):
        _, hidden = self.rnn(letters)
        return self.out(hidden[0])


def encode(text):
    tensor = torch.zeros(len(text), len(LETTERS))
    for i, letter in enumerate(text):
        tensor[i, LETTERS.index(letter)] = 1
    return tensor.unsqueeze(1)


def accuracy(model, count=200):
    right = 0
    with torch.no_grad():
        for _ in range(count):
            label = random.randrange(3)
            right += int(model(encode(word(LANGUAGES[label]))).argmax().item() == label)
    return right / count


random.seed(5)
torch.manual_seed(5)
model = CharRNN()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
current = 0.0
for step in range(1, 1001):
    label = random.randrange(3)
    text = word(LANGUAGES[label])
    output = model(encode(text))
    loss = criterion(output, torch.tensor([label]))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    current += loss.item() / 200
    if step % 200 == 0:
        guess = LANGUAGES[output.argmax().item()]
        print(
            f"step {step}: mean loss {current:.4f} accuracy {accuracy(model):.3f} ({text}: {guess}, is {LANGUAGES[label]})"
        )
        current = 0.0
