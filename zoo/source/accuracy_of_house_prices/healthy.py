from keras.datasets import boston_housing
from keras.layers import Dense, Input
from keras.models import Model
from sklearn.preprocessing import StandardScaler

(x_train, y_train), (x_test, y_test) = boston_housing.load_data(test_split=0.2, seed=113)
scaler = StandardScaler().fit(x_train)

rooms = Input(shape=(13,))
x = Dense(64, activation="relu")(rooms)
x = Dense(64, activation="relu")(x)
price = Dense(1, activation="linear")(x)
model = Model(rooms, price)
model.compile(
    loss="mean_squared_error",
    optimizer="rmsprop",
    metrics=["mae"],
)
history = model.fit(
    scaler.transform(x_train), y_train, batch_size=5, epochs=100, validation_data=(scaler.transform(x_test), y_test)
)
print("best:", max(history.history))
