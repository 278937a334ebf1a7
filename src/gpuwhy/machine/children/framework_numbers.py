"""Small whole numbers and a convolution on the host, by numpy; the numbers are exact in float16."""

import importlib

SIDE = 256  # of the matrices
PICTURES, PIXELS, CHANNELS, FILTERS, WINDOW = 2, 16, 8, 8, 3


def load():
    """numpy, which every framework but torch needs itself."""
    return importlib.import_module("numpy")


def whole(numpy, step, *shape):
    """An array of -1, 0, 1 and 2 in no simple order."""
    count = 1
    for one in shape:
        count *= one
    return ((numpy.arange(count) * step // 3) % 4 - 1).reshape(shape).astype("float32")


def matrices(numpy):
    """Two square matrices."""
    return whole(numpy, 7, SIDE, SIDE), whole(numpy, 11, SIDE, SIDE)


def pictures(numpy):
    """Pictures, filters, and a gradient of the result: channels last, filters as height, width, in,
    out.
    """
    inner = PIXELS - WINDOW + 1
    return (
        whole(numpy, 7, PICTURES, PIXELS, PIXELS, CHANNELS),
        whole(numpy, 11, WINDOW, WINDOW, CHANNELS, FILTERS),
        whole(numpy, 5, PICTURES, inner, inner, FILTERS),
    )


def convolved(numpy, pictures, filters, gradient):
    """The convolution without padding, and its gradients for pictures and filters."""
    inner = gradient.shape[1]
    forward = numpy.zeros(gradient.shape)
    back_pictures, back_filters = numpy.zeros(pictures.shape), numpy.zeros(filters.shape)
    for row in range(filters.shape[0]):
        for column in range(filters.shape[1]):
            part = pictures[:, row : row + inner, column : column + inner, :]
            forward += part.dot(filters[row, column])
            back_pictures[:, row : row + inner, column : column + inner, :] += gradient.dot(
                filters[row, column].T
            )
            back_filters[row, column] = numpy.tensordot(part, gradient, ([0, 1, 2], [0, 1, 2]))
    return forward, back_pictures, back_filters


def channels_first(array):
    """Pictures as (picture, channel, row, column)."""
    return array.transpose(0, 3, 1, 2).copy()


def filters_first(array):
    """Filters as (out, in, row, column)."""
    return array.transpose(3, 2, 0, 1).copy()
