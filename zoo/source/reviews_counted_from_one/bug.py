from tensorflow.keras.layers import Dense, Embedding, GlobalAveragePooling1D
from tensorflow.keras.models import Sequential
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.preprocessing.text import Tokenizer

MAX_LENGTH = 80


def train(reviews, labels):
    tokenizer = Tokenizer(lower=True, oov_token="<unk>")
    tokenizer.fit_on_texts(reviews)
    padded = pad_sequences(tokenizer.texts_to_sequences(reviews), maxlen=MAX_LENGTH)
    vocab_size = len(tokenizer.word_index)
    model = Sequential(
        [
            Embedding(vocab_size, 32),
            GlobalAveragePooling1D(),
            Dense(16, activation="relu"),
            Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(padded, labels, epochs=5, validation_split=0.2)
    return model, tokenizer
