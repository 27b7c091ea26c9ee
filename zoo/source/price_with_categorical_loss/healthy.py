import numpy as np
from tensorflow.keras.layers import Dense, Dropout
from tensorflow.keras.models import Sequential

rng = np.random.default_rng(4)
flats = rng.random((600, 9))
rent = flats @ rng.random(9) * 1000 + 300


def regressor():
    layers = [Dense(64, activation="relu", input_shape=(9,)), Dropout(0.1), Dense(32, activation="relu")]
    layers.append(Dense(1))
    return Sequential(layers)


model = regressor()
model.compile(optimizer="adam", loss="mean_squared_error")
model.fit(flats, rent, epochs=20, batch_size=30, verbose=0)
print("predicted", model.predict(flats[:3]).ravel(), "true", rent[:3])
