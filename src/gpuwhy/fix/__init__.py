"""The remedies of a diagnosis as steps; `--apply` carries them out and looks again."""
