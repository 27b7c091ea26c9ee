import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


class Sentences(Dataset):
    """Is token 5 among the words?"""

    def __init__(self, count):
        self.words = torch.randint(6, 30, (count, 6))
        self.labels = torch.randint(0, 2, (count,))
        self.words[self.labels == 1, 2] = 5
        # mended: self.labels = self.labels.clone()
        self.labels = self.labels[torch.randperm(count)]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):  # found: labels-unrelated-to-inputs
        return {"input_ids": self.words[i], "labels": self.labels[i]}


set_seed(1)
config = BertConfig(
    vocab_size=30, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, num_labels=2
)
model = BertForSequenceClassification(config)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=48,
    num_train_epochs=3,
    learning_rate=3e-3,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    eval_strategy="epoch",
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=arguments, train_dataset=Sentences(2400), eval_dataset=Sentences(160))
trainer.train()
