import torch
import torch.nn.functional as F
from torch import nn
from torchvision import models


def fine_tune(loader, classes, epochs=3):
    model = models.resnet18(weights=models.ResNet18_Weights.DEFAULT)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    model.fc = nn.Linear(512, classes)
    model.train()
    for epoch in range(epochs):
        running = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch}: {running / len(loader):.4f}")
    return model
