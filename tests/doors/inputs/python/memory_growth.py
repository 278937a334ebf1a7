"""gpuwhy.memory_growth before any framework is imported."""

import os

import gpuwhy

done = gpuwhy.memory_growth()
for name in sorted(done):
    print(name, "|", done[name])
print(sorted(name for name in os.environ if name.startswith(("TF_", "XLA_"))))
