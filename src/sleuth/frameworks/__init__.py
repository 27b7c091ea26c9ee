"""What engines do to torch, Keras, TensorFlow and JAX in a program that runs. Imports no engine and no framework."""
