"""PPO: several passes over one batch of experience, old log-probabilities without a graph, minus signs for what is maximised."""

import torch
from torch import nn
from torch.distributions import Normal


class Reach:
    """Many points in a plane at once: move each to its goal within ten steps."""

    def __init__(self, count):
        self.count = count

    def reset(self):
        self.place = torch.zeros(self.count, 2)
        self.goal = 2 * torch.rand(self.count, 2) - 1
        return self.observe()

    def observe(self):
        return torch.cat([self.place, self.goal], dim=1)

    def step(self, action):
        before = (self.goal - self.place).norm(dim=1)
        self.place = self.place + 0.3 * action.clamp(-1, 1)
        after = (self.goal - self.place).norm(dim=1)
        return self.observe(), before - after - 0.01


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 2))
        self.critic = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 1))
        self.log_std = nn.Parameter(torch.full((2,), -1.0))
        nn.init.orthogonal_(self.actor[-1].weight, 0.01)

    def policy(self, state):
        return Normal(self.actor(state), self.log_std.exp())

    def value(self, state):
        return self.critic(state).squeeze(-1)


@torch.no_grad()
def collect(agent, env, length=10, gamma=0.95):
    state, rows = env.reset(), []
    for _ in range(length):
        policy = agent.policy(state)
        action = policy.sample()
        following, reward = env.step(action)
        rows.append((state, action, policy.log_prob(action).sum(-1), reward, agent.value(state)))
        state = following
    states, actions, log_probs, rewards, values = (torch.stack(part) for part in zip(*rows))
    returns, ahead = torch.zeros_like(rewards), torch.zeros(env.count)
    for t in reversed(range(length)):
        ahead = rewards[t] + gamma * ahead
        returns[t] = ahead
    advantage = returns - values
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    batch = [part.flatten(0, 1) for part in (states, actions, log_probs, returns, advantage)]
    return batch, rewards.sum(0).mean().item()


def main():
    torch.manual_seed(0)
    agent, env = Agent(), Reach(32)
    print("at most about +0.67 can be had")
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
    for update in range(1, 31):
        batch, reward = collect(agent, env)
        for _ in range(4):
            for rows in torch.randperm(len(batch[0])).split(80):
                state, action, old, target, advantage = (part[rows] for part in batch)
                policy = agent.policy(state)
                ratio = (policy.log_prob(action).sum(-1) - old).exp()
                gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
                value_loss = (agent.value(state) - target).square().mean()
                loss = -gain + 0.5 * value_loss - 0.001 * policy.entropy().sum(-1).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        if update % 3 == 0:
            print(f"update {update:2d}: reward {reward:+.4f} value loss {value_loss.item():.4f}")


if __name__ == "__main__":
    main()
