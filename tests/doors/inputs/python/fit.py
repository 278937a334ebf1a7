"""gpuwhy.fit: whether a model fits, from its files alone."""

import sys

import gpuwhy

found = gpuwhy.fit(sys.argv[1], train="full", batch=8, tokens=2048, gpu="RTX 4090")
print(found.status, found.bytes, len(found.changes))
