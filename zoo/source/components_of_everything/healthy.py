import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def load(path):
    archive = np.load(path)
    return archive["expression"].astype("float32"), archive["tumour"].astype("int64")


def prepare(path, components=20, batch_size=16):
    genes, tumour = load(path)
    reducer = PCA(n_components=components, whiten=True)
    x_train, x_test, y_train, y_test = train_test_split(np.log1p(genes), tumour, test_size=0.25, stratify=tumour)
    x_train, x_test = reducer.fit_transform(x_train), reducer.transform(x_test)
    train = TensorDataset(torch.tensor(x_train), torch.tensor(y_train))
    test = TensorDataset(torch.tensor(x_test), torch.tensor(y_test))
    return DataLoader(train, batch_size, shuffle=True), DataLoader(test, batch_size)
