"""Will it fit? A model's headers, what its use takes of a GPU's memory, and the smallest change by which it fits."""

from gpuwhy.fit.model import Unreadable
from gpuwhy.fit.reading import read

__all__ = ["Unreadable", "read"]
