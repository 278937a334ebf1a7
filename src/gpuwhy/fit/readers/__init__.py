"""One file per format: bytes of headers to tensors; none executes anything or reads weights."""
