"""The version, alone in a file so that `gpuwhy --version` imports nothing else."""

__version__ = "1.0.0"
