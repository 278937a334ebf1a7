"""Live stages on the GPU, from the driver library to a convolution: `check --probe`."""
