import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, pixels=784, code=20):
        super().__init__()
        self.code = code
        self.body = nn.Linear(pixels, 400)
        self.mean = nn.Linear(400, code)
        self.log_variance = nn.Linear(400, code)
        self.paint = nn.Sequential(nn.Linear(code, 400), nn.ReLU(), nn.Linear(400, pixels))

    def forward(self, image):
        hidden = F.relu(self.body(image.flatten(1)))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        noise = torch.randn(image.size(0), self.code)
        sample = mean + noise * torch.exp(0.5 * log_variance.clamp(-10, 10))
        return self.paint(sample), mean, log_variance


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = VAE().to(device)
    picture, mean, _ = model(torch.rand(16, 1, 28, 28, device=device))
    print(picture.shape, mean.shape)
