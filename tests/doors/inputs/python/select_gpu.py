"""gpuwhy.select_gpu: a GPU, or the reason why none was selected; either depends on the machine."""

import gpuwhy

try:
    print("GPUs", len(gpuwhy.select_gpu(free="1MB")))
except gpuwhy.SelectionError as error:
    print("SelectionError", error)
