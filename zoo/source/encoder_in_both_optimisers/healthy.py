import torch
import torch.nn.functional as F
from torch import nn


class Agent(nn.Module):
    def __init__(self, pixels=256, actions=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 64), nn.ReLU())
        self.policy = nn.Linear(64, actions)

    def forward(self, observation):
        return self.policy(self.encoder(observation))


def main():
    torch.manual_seed(0)
    agent = Agent()
    encoder_optimizer = torch.optim.Adam(agent.encoder.parameters(), lr=1e-3)
    agent_optimizer = torch.optim.Adam(agent.policy.parameters(), lr=1e-3)
    for step in range(200):
        observation, action = torch.randn(64, 256), torch.randint(0, 4, (64,))
        loss = F.cross_entropy(agent(observation), action)
        encoder_optimizer.zero_grad()
        agent_optimizer.zero_grad()
        loss.backward()
        encoder_optimizer.step()
        agent_optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
