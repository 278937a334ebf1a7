"""gpuwhy.guard.install(): every uncaught error of the process."""

import gpuwhy

gpuwhy.guard.install()
gpuwhy.guard.uninstall()
gpuwhy.guard.install()
raise RuntimeError("CUDA error: device-side assert triggered")
