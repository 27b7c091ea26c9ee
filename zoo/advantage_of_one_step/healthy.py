import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

rng = np.random.default_rng(7)
torch.manual_seed(2)


class Corridor:
    """Walk right to the door; a trap may end the episode at once."""

    def reset(self):
        self.position = 0
        return self.state()

    def state(self):
        return torch.tensor([self.position / 5.0, 1.0])

    def step(self, action):
        self.position += 1 if action == 1 else -1
        trapped = rng.random() < 0.05
        done = trapped or abs(self.position) >= 5
        return self.state(), float(self.position >= 5) - 0.01, done


policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = Corridor()
for episode in range(25):
    state, done, log_probs, rewards = env.reset(), False, [], []
    while not done:
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        state, reward, done = env.step(action.item())
        log_probs.append(choice.log_prob(action))
        rewards.append(reward)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / (returns.std(correction=0) + 1e-8)
    loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"episode {episode}: length {len(rewards)} loss {loss.item():.4f}")
