import torch

PAD = 0


def sentences(count, size=16, length=9):
    """Batches of word ids and tags; the first ones happen to be full sentences."""
    for i in range(count):
        words = torch.randint(1, 40, (size, length))
        tags = words % 5
        if i >= 6:
            words[i % size, length - 2 :] = PAD
            tags[i % size, length - 2 :] = -1
        yield words, tags
