import tensorflow as tf
from tensorflow.keras import backend as K


def balanced_loss(beta):
    def loss(y_true, y_pred):
        y_true = tf.cast(y_true, tf.float32)
        y_pred = K.clip(y_pred, K.epsilon(), 1.0 - K.epsilon())
        rare = beta * y_true * K.log(y_pred)
        return -K.mean(rare + common)

    return loss


def compile_for_lesions(model, share):
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-4), loss=balanced_loss(1.0 - share), metrics=["AUC"])
    return model
