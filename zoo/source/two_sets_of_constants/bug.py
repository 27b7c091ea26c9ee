from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision import transforms as T

augment = T.Compose(
    [
        T.RandomCrop(32, padding=4),
        T.RandomHorizontalFlip(),
        T.ToTensor(),
        T.Normalize(mean=[0.5071, 0.4867, 0.4408], std=[0.2675, 0.2565, 0.2761]),
    ]
)
plain = T.Compose(
    [
        T.ToTensor(),
        T.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]
)


def get_loaders(root="./data", batch_size=128):
    train_data = datasets.CIFAR100(root, train=True, download=True, transform=augment)
    test_data = datasets.CIFAR100(root, train=False, download=True, transform=plain)
    train = DataLoader(train_data, batch_size=batch_size, shuffle=True, num_workers=2)
    test = DataLoader(test_data, batch_size=batch_size, num_workers=2)
    return train, test


if __name__ == "__main__":
    for loader in get_loaders():
        images, labels = next(iter(loader))
        print(images.mean(), images.std())
