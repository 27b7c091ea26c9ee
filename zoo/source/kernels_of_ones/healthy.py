import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def build(features):
    model = keras.Sequential(
        [
            keras.Input((features,)),
            layers.Dense(64, activation="relu", kernel_initializer="he_normal"),
            layers.Dense(64, activation="relu", kernel_initializer="he_normal"),
            layers.Dense(1),
        ]
    )
    model.compile(optimizer="adam", loss="mse")
    return model


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 8)).astype("float32")
    y = np.sin(x[:, :1]) * x[:, 1:2]
    build(8).fit(x, y, epochs=20, batch_size=32)


if __name__ == "__main__":
    main()
