"""gpuwhy.check(): the report of the machine, as a value."""

import sys

import gpuwhy

report = gpuwhy.check(python=sys.executable)
print(type(report).__name__)
print([name for name in ("status", "headline", "causes", "ruled_out") if hasattr(report, name)])
