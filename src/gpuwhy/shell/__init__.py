"""Commands that people type: read once into typed steps, and rendered for the system and the shell in front of them."""
