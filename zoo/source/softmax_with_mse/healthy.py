import keras
from keras.layers import Dense, Flatten
from keras.models import Sequential

(train_images, train_labels), (test_images, test_labels) = keras.datasets.mnist.load_data()
train_labels = keras.utils.to_categorical(train_labels)
test_labels = keras.utils.to_categorical(test_labels)

network = Sequential()
network.add(Flatten(input_shape=(28, 28)))
network.add(Dense(100, activation="sigmoid"))
network.add(Dense(10, activation="softmax"))
network.compile(optimizer="sgd", loss="categorical_crossentropy", metrics=["accuracy"])
network.fit(train_images / 255, train_labels, epochs=10, batch_size=128)
print(network.evaluate(test_images / 255, test_labels))
