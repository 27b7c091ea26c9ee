import torch
from torch import nn


class Segmenter(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
        self.decoder = nn.Conv2d(32, classes, 1)

    def forward(self, image):
        return self.decoder(self.encoder(image))


def mean_iou(predicted, truth, classes=4):
    scores = []
    for c in range(classes):
        both = ((predicted == c) & (truth == c)).sum().item()
        either = ((predicted == c) | (truth == c)).sum().item()
        if either:
            scores.append(both / either)
    return sum(scores) / len(scores)


def validate(model, loader, device):
    model.eval()
    scores = []
    with torch.inference_mode():
        for image, mask in loader:
            logits = model(image.to(device))
            scores.append(mean_iou(logits.argmax(dim=1).cpu(), mask))
    model.train()
    return sum(scores) / len(scores)
