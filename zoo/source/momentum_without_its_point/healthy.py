import keras
from keras import layers
from keras.datasets import fashion_mnist

MOMENTUM = 0.9
DECAY_STEPS = 10_000

(x_train, y_train), (x_test, y_test) = fashion_mnist.load_data()
x_train, x_test = x_train / 255.0, x_test / 255.0

model = keras.Sequential(
    [
        layers.Input(shape=(28, 28, 1)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.4),
        layers.Dense(10, activation="softmax"),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(0.05, DECAY_STEPS)
optimizer = keras.optimizers.SGD(learning_rate=schedule, momentum=MOMENTUM, nesterov=True)
model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=128, epochs=12, validation_split=0.1)
print(model.evaluate(x_test, y_test, verbose=0))
