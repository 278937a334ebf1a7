"""The variables that steer the GPU stack, and the files and folders that they name."""
