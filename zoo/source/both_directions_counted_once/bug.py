import torch
import torch.nn as nn


class SentimentModel(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 100, padding_idx=0)
        self.lstm = nn.LSTM(100, 128, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2)
        self.dropout = nn.Dropout(0.5)
        self.fc = nn.Linear(128, 1)

    def forward(self, words):
        embedded = self.dropout(self.embedding(words))
        states, _ = self.lstm(embedded)
        last = self.dropout(states)
        return self.fc(last)[:, -1]


if __name__ == "__main__":
    model = SentimentModel(20000)
    print(model(torch.randint(1, 20000, (4, 50))).shape)
