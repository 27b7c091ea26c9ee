import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    EarlyStoppingCallback,
    Trainer,
    TrainingArguments,
    set_seed,
)


class Sentences(Dataset):
    """Is token 5 among the words? Padded with 0 to the same length."""

    def __init__(self, count):
        self.words = torch.randint(6, 30, (count, 8))
        self.labels = torch.randint(0, 2, (count,))
        self.words[self.labels == 1, 2] = 5
        self.lengths = torch.randint(4, 9, (count,))

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        mask = (torch.arange(8) < self.lengths[i]).long()
        return {"input_ids": self.words[i] * mask, "attention_mask": mask, "labels": self.labels[i]}


def accuracy(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, axis=1) == prediction.label_ids).mean())}


set_seed(0)
config = BertConfig(
    vocab_size=30, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=2
)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    num_train_epochs=3,
    learning_rate=3e-3,
    weight_decay=0.01,
    eval_strategy="epoch",
    save_strategy="epoch",
    load_best_model_at_end=True,
    metric_for_best_model="accuracy",
    save_total_limit=1,
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(
    model=BertForSequenceClassification(config),
    args=arguments,
    train_dataset=Sentences(800),
    eval_dataset=Sentences(160),
    compute_metrics=accuracy,
    callbacks=[EarlyStoppingCallback(early_stopping_patience=2)],
)
trainer.train()
print(trainer.evaluate()["eval_accuracy"])
