"""What a binary, wheel, folder or environment needs, for which GPUs, and what would be loaded."""
