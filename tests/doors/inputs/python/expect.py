"""gpuwhy.expect on anything with a shape."""

import gpuwhy


class Array:
    def __init__(self, *shape: int) -> None:
        self.shape, self.dtype = shape, "float32"


with gpuwhy.expect.scope():
    print(gpuwhy.expect(Array(8, 224, 224, 3), "batch 224 224 3", dtype="float32").shape)


try:
    gpuwhy.expect(Array(8, 3, 224, 224), "batch h w 3")
except gpuwhy.MismatchError as error:
    print(error)
