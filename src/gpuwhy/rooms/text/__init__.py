"""What causes say in texts: the language of their rooms, and what stands between them."""
