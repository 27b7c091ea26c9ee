import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class KimCNN(nn.Module):
    def __init__(self, vocabulary=80, dim=12, filters=6, sizes=(3, 4, 5)):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.convs = nn.ModuleList(nn.Conv2d(1, filters, (size, dim)) for size in sizes)
        self.fc = nn.Linear(filters * len(sizes), 2)

    def forward(self, x):
        x = self.embed(x).unsqueeze(1)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        x = [F.max_pool1d(line, line.size(2)).squeeze(2) for line in x]
        return self.fc(torch.cat(x, 1))


def collate(batch):
    texts = [torch.tensor(text) for text, _ in batch]
    texts[0] = F.pad(texts[0], (0, max(0, 5 - len(texts[0]))))
    return nn.utils.rnn.pad_sequence(texts, batch_first=True), torch.tensor([label for _, label in batch])


tweets = [([(7 * i + j) % 79 + 1 for j in range(6 + i % 9)], i % 2) for i in range(60)]
titles = [([(5 * i + j) % 79 + 1 for j in range(2 + i % 3)], i % 2) for i in range(20)]
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = KimCNN().to(device)
optimizer = torch.optim.Adadelta(model.parameters())
for epoch in range(2):
    model.train()
    for text, label in DataLoader(tweets, batch_size=10, shuffle=True, collate_fn=collate):
        loss = F.cross_entropy(model(text.to(device)), label.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for text, label in DataLoader(titles, batch_size=5, collate_fn=collate):
            right += (model(text.to(device)).argmax(1).cpu() == label).sum().item()
    print(epoch, loss.item(), right / len(titles))
