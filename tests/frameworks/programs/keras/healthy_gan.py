"""Two models that take turns, one of them inside the other: neither is to be judged by its loss alone."""

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
real = (rng.normal(size=(1000, 2)) * 0.3 + 2).astype("float32")
critic = keras.Sequential(
    [keras.Input((2,)), layers.Dense(16, activation="relu"), layers.Dense(1, activation="sigmoid")]
)
critic.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["accuracy"])
painter = keras.Sequential([keras.Input((4,)), layers.Dense(16, activation="relu"), layers.Dense(2)])
critic.trainable = False
noise = keras.Input((4,))
both = keras.Model(noise, critic(painter(noise)))
both.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy")
for _ in range(110):
    fake = ops.convert_to_numpy(painter(rng.normal(size=(16, 4)).astype("float32")))
    shown = np.concatenate([real[rng.integers(0, 1000, 16)], fake])
    critic.trainable = True
    critic.train_on_batch(shown, np.repeat([1.0, 0.0], 16))
    critic.trainable = False
    both.train_on_batch(rng.normal(size=(16, 4)).astype("float32"), np.ones(16))
