"""What a Python says of itself; run by the Python under diagnosis. Standard library only, Python 3.5 and newer."""

import json
import os
import platform
import site
import sys


def folders():
    """Where distributions may lie, in the order of the path."""
    found = []
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    if hasattr(site, "getsitepackages"):  # missing under old versions of virtualenv
        found.extend(site.getsitepackages())
    found.extend(p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages"))
    return [p for i, p in enumerate(found) if p not in found[:i]]


print(
    json.dumps(
        {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "prefix": sys.prefix,
            "base_prefix": getattr(sys, "base_prefix", sys.prefix),
            "executable": sys.executable or "",
            "site_packages": folders(),
            "machine": platform.machine(),
        }
    )
)
