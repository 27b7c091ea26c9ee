import gzip

import numpy

BIG_ENDIAN = numpy.dtype(numpy.uint32).newbyteorder(">")


def _read32(bytestream):
    return numpy.frombuffer(bytestream.read(4), dtype=BIG_ENDIAN)[0]


def extract_labels(filename):
    with gzip.open(filename) as bytestream:
        magic = _read32(bytestream)
        if magic != 2049:
            raise ValueError(f"{filename} is no file of labels")
        num_items = _read32(bytestream)
        buf = bytestream.read(num_items)
        return numpy.frombuffer(buf, dtype=numpy.uint8)


def one_hot(labels, classes=10):
    return numpy.eye(classes, dtype=numpy.float32)[labels]


if __name__ == "__main__":
    print(one_hot(extract_labels("train-labels-idx1-ubyte.gz")).shape)
