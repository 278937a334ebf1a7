"""A program for python -m gpuwhy.guard."""

import sys

print("argument", sys.argv[1:])
raise RuntimeError("CUDA error: device-side assert triggered")
