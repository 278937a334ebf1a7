"""gpuwhy.fit_batch on a step that fails as torch does, and one that never fits."""

import gpuwhy


def step(batch: int, most: int = 21) -> None:
    if batch > most:
        raise RuntimeError(
            "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.79 GiB total capacity)"
        )


found = gpuwhy.fit_batch(step, start=8)
print(found.size, len(found.tries), found.failed.needed)
print(found)
try:
    gpuwhy.fit_batch(lambda batch: step(batch, 0))
except gpuwhy.NoBatchFitsError as error:
    print(type(error).__name__, error)
try:
    gpuwhy.fit_batch(lambda batch: {}["lr"])
except KeyError as error:
    print("passed through:", error)
