import pandas as pd
from keras.layers import Dense, Dropout
from keras.models import Sequential
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

table = pd.read_csv("iris.csv")
features = table.drop(columns=["species"]).values
species = pd.get_dummies(table["species"]).values

x_train, x_test, y_train, y_test = train_test_split(features, species, test_size=0.25, random_state=0)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)

model = Sequential(
    [
        Dense(16, activation="relu", input_shape=(4,)),
        Dropout(0.1),
        Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x_train, y_train, epochs=60, batch_size=8, verbose=0)
print(model.evaluate(x_test, y_test, verbose=0))
