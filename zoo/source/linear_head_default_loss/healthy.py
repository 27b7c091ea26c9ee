import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

MAX_FEATURES = 10000
MAX_LENGTH = 300


def build_model():
    model = keras.Sequential()
    model.add(layers.Embedding(MAX_FEATURES, 64))
    model.add(layers.Conv1D(32, 7, activation="relu"))
    model.add(layers.MaxPooling1D(5))
    model.add(layers.Conv1D(32, 7, activation="relu"))
    model.add(layers.GlobalMaxPooling1D())
    model.add(layers.Dense(1, activation="sigmoid"))
    return model


def main():
    (x_train, y_train), (x_test, y_test) = keras.datasets.imdb.load_data(num_words=MAX_FEATURES)
    x_train = keras.utils.pad_sequences(x_train, maxlen=MAX_LENGTH)
    x_test = keras.utils.pad_sequences(x_test, maxlen=MAX_LENGTH)
    model = build_model()
    model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["acc"])
    model.fit(x_train, y_train, epochs=4, batch_size=128, validation_split=0.2)
    scores = model.predict(x_test)
    print("positive:", np.mean(scores > 0.5))


if __name__ == "__main__":
    main()
