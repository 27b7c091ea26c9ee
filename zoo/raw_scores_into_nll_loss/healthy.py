import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

vocabulary, topics, doc_length = 300, 5, 20
batch_size, steps = 50, 240

# Every topic prefers a part of the vocabulary.
preference = F.softmax(1.5 * torch.randn(topics, vocabulary), dim=1)
topic = torch.randint(0, topics, (1500,))
documents = torch.multinomial(preference[topic], doc_length, replacement=True)


class TopicModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocabulary, 32, mode="mean")
        self.hidden = nn.Linear(32, 32)
        self.out = nn.Linear(32, topics)

    def forward(self, docs):
        x = torch.relu(self.hidden(self.bag(docs)))
        return F.log_softmax(self.out(x), dim=1)


model = TopicModel()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(steps):
    start = step * batch_size % len(documents)
    docs, y = documents[start : start + batch_size], topic[start : start + batch_size]
    scores = model(docs)
    loss = F.nll_loss(scores, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 24 == 0:
        hits = (scores.argmax(1) == y).float().mean().item()
        print(f"{step:4d} loss {loss.item():10.4f} hits {hits:.2f}")

print("last loss", loss.item())
