"""What the dynamic loader would do: which file a library name resolves to, why, and what was tried before."""
