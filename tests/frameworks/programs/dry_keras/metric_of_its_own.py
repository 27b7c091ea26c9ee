import keras
import numpy as np
from keras import layers


def share(y_true, y_pred):
    # mended: return keras.ops.mean(y_pred)
    return keras.ops.mean(y_pred) / ranges["y"]  # found: crash-in-rehearsal


ranges = {"x": 1.0}
rng = np.random.default_rng(0)
x, y = rng.normal(size=(40, 6)).astype("float32"), rng.normal(size=(40, 1)).astype("float32")
model = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
model.compile("adam", "mse", metrics=[share])
model.fit(x, y, epochs=2, verbose=0)
