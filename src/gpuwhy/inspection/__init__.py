"""What a binary, a wheel, a folder or an environment needs, for which GPUs, and what would be loaded for it."""
