import torch
import torch.nn as nn
from torchvision.models import resnet50


class FineTuned(nn.Module):
    def __init__(self, classes, freeze_stem=True):
        super().__init__()
        self.backbone = resnet50(weights="IMAGENET1K_V2")
        self.stem = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3))
        self.head = nn.Linear(1000, classes)
        if freeze_stem:
            self.freeze()

    def freeze(self):
        self.backbone.requires_grad_(False)
        self.backbone.eval()

    def forward(self, images):
        return self.head(self.backbone(self.stem(images)))


def make(classes):
    model = FineTuned(classes)
    trained = [p for p in model.parameters() if p.requires_grad]
    print(f"{sum(p.numel() for p in trained):,} parameters are trained")
    return model, torch.optim.AdamW(trained, lr=1e-4)
