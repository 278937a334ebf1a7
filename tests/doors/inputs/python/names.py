"""What gpuwhy.__all__ names, and that `import gpuwhy` loads nothing of it."""

import sys

import gpuwhy

print(sorted(name for name in sys.modules if name.startswith("gpuwhy")))
for name in sorted(gpuwhy.__all__):
    print(name, type(getattr(gpuwhy, name)).__name__)
