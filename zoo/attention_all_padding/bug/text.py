import random

import torch
from torch.utils.data import Dataset


class Reviews(Dataset):
    def __init__(self, n=192, seed=1):
        rng = random.Random(seed)
        self.rows = []
        for i in range(n):
            length = 0 if i == 117 else rng.randint(2, 10)  # review 117 was only a picture
            words = [rng.randint(1, 49) for _ in range(length)]
            self.rows.append((words, int(sum(words) > 25 * max(length, 1))))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class Collate:
    def __call__(self, rows):
        longest = max(len(words) for words, _ in rows)
        padded = torch.zeros(len(rows), longest, dtype=torch.long)
        for i, (words, _) in enumerate(rows):
            padded[i, : len(words)] = torch.tensor(words, dtype=torch.long)
        return padded, padded == 0, torch.tensor([stars for _, stars in rows])
