import os
import time

import torch
from torch import nn


def wait_for(path, pause=0.2):
    while not os.path.exists(path):
        time.sleep(pause)
    return path


def distil(student, teacher, steps, device):
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
    for _ in range(steps):
        x = torch.randn(20, 5, device=device)
        with torch.no_grad():
            wanted = teacher(x).softmax(-1)
        loss = nn.functional.cross_entropy(student(x), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main(logits="teacher.done"):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    teacher = nn.Sequential(nn.Linear(5, 40), nn.ReLU(), nn.Linear(40, 3)).to(device)
    student = nn.Linear(5, 3).to(device)
    wait_for(logits)
    print(distil(student, teacher, 10, device))


if __name__ == "__main__":
    main()
