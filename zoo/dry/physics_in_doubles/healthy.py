import torch
from torch import nn


class Pendulum(nn.Module):
    """Learns the acceleration of a pendulum and integrates it."""

    def __init__(self, hidden=16, dt=0.05):
        super().__init__()
        self.dt = dt
        self.force = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, state, steps):
        path = [state]
        for _ in range(steps):
            angle, speed = state.unbind(-1)
            acceleration = self.force(state)[..., 0]
            speed = speed + self.dt * acceleration
            state = torch.stack([angle + self.dt * speed, speed], dim=-1)
            path.append(state)
        return torch.stack(path, dim=1)


def truth(state, steps, dt=0.05):
    path = [state]
    for _ in range(steps):
        angle, speed = state.unbind(-1)
        speed = speed - dt * torch.sin(angle)
        state = torch.stack([angle + dt * speed, speed], dim=-1)
        path.append(state)
    return torch.stack(path, dim=1)


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Pendulum().double().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for iteration in range(15):
        start = torch.randn(20, 2, device=device, dtype=torch.float64)
        loss = (model(start, 5) - truth(start, 5)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
