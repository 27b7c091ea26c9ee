from keras.layers import Conv2D, Dense, Dropout, GlobalAveragePooling2D, Input, MaxPooling2D
from keras.models import Model
from keras.optimizers import Adam
from keras.utils import image_dataset_from_directory


def network(shape=(64, 64, 3), breeds=12):
    image = Input(shape=shape)
    x = Conv2D(32, (3, 3), padding="same", activation="relu")(image)
    x = MaxPooling2D((2, 2))(x)
    x = Conv2D(64, (3, 3), padding="same", activation="relu")(x)
    x = GlobalAveragePooling2D()(x)
    x = Dense(128, activation="relu")(x)
    x = Dropout(0.4)(x)
    breed = Dense(breeds, activation="softmax")(x)
    return Model(inputs=image, outputs=breed)


def main():
    pictures = image_dataset_from_directory("dogs", image_size=(64, 64), label_mode="categorical")
    model = network()
    model.compile(loss="categorical_crossentropy", optimizer=Adam(0.001), metrics=["accuracy"])
    model.fit(pictures, epochs=10)
    model.save("breeds.keras")


if __name__ == "__main__":
    main()
