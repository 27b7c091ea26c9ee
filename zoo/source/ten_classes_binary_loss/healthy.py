import tensorflow as tf
from tensorflow.keras import layers, models, optimizers
from tensorflow.keras.utils import to_categorical

(x_train, y_train), (x_test, y_test) = tf.keras.datasets.cifar10.load_data()
y_train = to_categorical(y_train, 10)
y_test = to_categorical(y_test, 10)

base = tf.keras.applications.ResNet50(weights="imagenet", include_top=False, input_shape=(200, 200, 3))
model = models.Sequential()
model.add(layers.UpSampling2D((2, 2)))
model.add(layers.Resizing(200, 200))
model.add(base)
model.add(layers.Flatten())
model.add(layers.BatchNormalization())
model.add(layers.Dense(128, activation="relu"))
model.add(layers.Dropout(0.5))
model.add(layers.Dense(10))
model.add(layers.Activation("softmax"))

model.compile(optimizer=optimizers.RMSprop(2e-5), loss=tf.keras.losses.CategoricalCrossentropy(), metrics=["acc"])
model.fit(x_train / 255.0, y_train, epochs=5, batch_size=20, validation_data=(x_test / 255.0, y_test))
