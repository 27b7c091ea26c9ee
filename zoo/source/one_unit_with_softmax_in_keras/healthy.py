import pandas as pd
from keras.layers import Dense
from keras.models import Sequential

titanic = pd.read_csv("titanic.csv")
passengers = titanic[["pclass", "age", "fare", "sibsp"]].fillna(0).values
survived = titanic["survived"].values

clf = Sequential()
clf.add(Dense(12, input_dim=4, activation="relu"))
clf.add(Dense(8, activation="relu"))
clf.add(Dense(1, activation="sigmoid"))
clf.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
clf.fit(passengers, survived, epochs=150, batch_size=10, validation_split=0.2)
print(clf.predict(passengers[:5]))
