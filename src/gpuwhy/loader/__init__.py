"""What the loaders of Linux and Windows would do: which file each name leads to, and why."""
