import numpy as np
from sklearn.model_selection import RepeatedKFold
from tensorflow import keras


def build(inputs):
    features = keras.Input(shape=(inputs,))
    hidden = keras.layers.Dense(32, activation="relu")(features)
    price = keras.layers.Dense(1)(hidden)
    return keras.Model(features, price)


def cross_validate(x, y, repeats=20):
    errors = []
    folds = RepeatedKFold(n_splits=5, n_repeats=repeats, random_state=1)
    for train, test in folds.split(x):
        keras.backend.clear_session()
        model = build(x.shape[1])
        model.compile(optimizer="adam", loss="mse", metrics=["mae"])
        model.fit(x[train], y[train], epochs=30, verbose=0)
        errors.append(model.evaluate(x[test], y[test], verbose=0)[1])
    return np.mean(errors), np.std(errors)


houses = np.random.rand(300, 6)
prices = houses @ np.arange(6) + 0.1 * np.random.rand(300)
print("mean absolute error: %.3f (%.3f)" % cross_validate(houses, prices))
