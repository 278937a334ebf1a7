"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("gpuwhy", deadline=None)  # a loaded machine is not a failure
settings.load_profile("gpuwhy")
