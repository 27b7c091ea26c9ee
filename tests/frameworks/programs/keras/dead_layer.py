import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(960, 8)).astype("float32")
y = (x[:, 0] + 2 * x[:, 1] > 0).astype("int32")
# mended: start = "zeros"
start = keras.initializers.Constant(-20.0)
model = keras.Sequential(
    [
        keras.Input((8,)),
        layers.Dense(32, activation="relu", bias_initializer=start),  # found: dead-units
        layers.Dense(2),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=2)
