import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Patches(Dataset):
    """Random patches of large scans, read from memory-mapped files."""

    def __init__(self, paths, size=128, per_scan=16):
        self.scans = [np.load(path, mmap_mode="r") for path in paths]
        self.size = size
        self.per_scan = per_scan

    def __len__(self):
        return len(self.scans) * self.per_scan

    def __getitem__(self, index):
        scan = self.scans[index // self.per_scan]
        top = np.random.randint(scan.shape[0] - self.size)
        left = np.random.randint(scan.shape[1] - self.size)
        patch = scan[top : top + self.size, left : left + self.size]
        return torch.from_numpy(np.ascontiguousarray(patch)).float().unsqueeze(0)


def make_loader(paths, batch_size=32):
    return DataLoader(Patches(paths), batch_size=batch_size, shuffle=True, num_workers=6, pin_memory=True)
