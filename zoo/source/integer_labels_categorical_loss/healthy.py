import numpy as np
from sklearn.preprocessing import LabelEncoder
from tensorflow.keras import Input, Model
from tensorflow.keras.layers import Dense, LSTM, Masking

genres = np.array(["rock", "jazz", "folk", "blues"])


def recordings(count):
    which = np.random.choice(len(genres), count)
    return np.random.rand(count, 50, 13), genres[which]


spectra, names = recordings(400)
encoder = LabelEncoder()
labels = encoder.fit_transform(names)

inputs = Input(shape=(50, 13))
x = Masking()(inputs)
x = LSTM(32)(x)
outputs = Dense(len(genres), activation="softmax")(x)
model = Model(inputs=inputs, outputs=outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(spectra, labels, validation_split=0.1, epochs=5)
