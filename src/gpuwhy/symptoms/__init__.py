"""Text to symptoms: the log reader and its signatures."""
