import torch


def batches(count, size=128):
    """Endless y = x + noise, with a growing share of far outliers as the stream goes on."""
    for i in range(count):
        x = torch.rand(size, 1) * 4 - 2
        y = x.squeeze(1) + 0.1 * torch.randn(size)
        if i > 20:
            y[: i - 20] *= 6
        yield x, y
