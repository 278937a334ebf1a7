"""The message atlas: which program prints which message, read from the published files."""
