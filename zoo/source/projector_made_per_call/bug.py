import torch
import torch.nn as nn
import torch.nn.functional as F


class ShortcutBlock(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.channels_in, self.channels_out = channels_in, channels_out
        self.conv = nn.Conv2d(channels_in, channels_out, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x):
        out = self.norm(self.conv(x))
        if self.channels_in != self.channels_out:
            project = nn.Conv2d(self.channels_in, self.channels_out, kernel_size=1)
            x = project(x)
        return F.relu(out + x)


if __name__ == "__main__":
    torch.manual_seed(0)
    block = ShortcutBlock(16, 32).eval()
    x = torch.randn(1, 16, 8, 8)
    print(torch.equal(block(x), block(x)))
