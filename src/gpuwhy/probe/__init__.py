"""Live staged tests: which step from the driver library to a convolution fails, with the call and its code."""
