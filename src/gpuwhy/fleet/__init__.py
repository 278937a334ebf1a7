"""Fleet: what a node says of itself in one line, and which nodes differ."""
