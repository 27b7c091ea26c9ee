import pandas as pd
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from torch import nn

reviews = pd.read_csv("reviews.csv")
text_fit, text_held, label_fit, label_held = train_test_split(
    reviews["text"], reviews["positive"], test_size=0.2, stratify=reviews["positive"], random_state=3
)
vectorizer = TfidfVectorizer(max_features=2000, min_df=2)
features = torch.tensor(vectorizer.fit_transform(text_fit).toarray(), dtype=torch.float32)
held = torch.tensor(vectorizer.fit_transform(text_held).toarray(), dtype=torch.float32)
wanted = torch.tensor(label_fit.values, dtype=torch.float32)

model = nn.Sequential(nn.Linear(features.shape[1], 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 1), nn.Flatten(0))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(300):
    loss = criterion(model(features), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    right = (model(held) > 0).numpy() == label_held.values
print(f"accuracy {right.mean():.3f}")
