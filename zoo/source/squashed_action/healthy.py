import torch
from torch import nn


class SquashedPolicy(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, 64), nn.ReLU())
        self.mean = nn.Linear(64, actions)
        self.log_std = nn.Parameter(torch.zeros(actions))

    def forward(self, state):
        mean = self.mean(self.body(state))
        normal = torch.distributions.Normal(mean, self.log_std.exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw).sum(-1)
        correction = torch.log1p(-action.pow(2).clamp(max=1 - 1e-6)).sum(-1)
        return action, log_prob - correction


policy = SquashedPolicy(8, 2)
action, log_prob = policy(torch.randn(32, 8))
log_prob.mean().backward()
