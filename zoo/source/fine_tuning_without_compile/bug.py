from keras import layers, models, optimizers
from keras.applications import VGG16
from keras.utils import image_dataset_from_directory

train = image_dataset_from_directory("pets/train", image_size=(150, 150), batch_size=20)
valid = image_dataset_from_directory("pets/valid", image_size=(150, 150), batch_size=20)

conv_base = VGG16(weights="imagenet", include_top=False, input_shape=(150, 150, 3))
conv_base.trainable = False

model = models.Sequential()
model.add(conv_base)
model.add(layers.Flatten())
model.add(layers.Dense(256, activation="relu"))
model.add(layers.Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer=optimizers.RMSprop(2e-5), metrics=["acc"])
model.fit(train, epochs=10, validation_data=valid)

for layer in conv_base.layers:
    layer.trainable = layer.name.startswith("block5")
model.fit(train, epochs=20, validation_data=valid)
model.save("cats_and_dogs.keras")
