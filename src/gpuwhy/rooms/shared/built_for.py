"""Built for: an image of another processor than the machine with the GPU has, as one built on a Mac is."""

from __future__ import annotations

import re

from gpuwhy.model.cause import Fix
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Facts
from gpuwhy.rooms.shared.winner import in_image

_ON_ARM = re.compile(r"(?i)\b(?:GH200|GB\d+|Grace|Orin|Xavier|Thor|Spark|Tegra|Jetson)")
"""GPUs that sit beside an Arm processor."""


def for_arm(facts: Facts) -> str:
    """How the platform of an image is called that is for Arm while the GPU is none of Arm's; "" elsewhere."""
    arm = in_image(facts) and value_or(facts.surroundings.machine, "") in ("aarch64", "arm64")
    return "linux/arm64" if arm and not _ON_ARM.search(value_or(gpu_present(facts), "")) else ""


def for_amd64(facts: Facts) -> tuple[Fix, ...]:
    """Build it for the processor of the machine that has the GPU."""
    if not for_arm(facts):
        return ()
    text = (
        "Build the image for linux/amd64, which machines with such a GPU are: this one is linux/arm64 (aarch64), as "
        "`docker build` makes it on a Mac"
    )
    return (Fix(text, "docker build --platform linux/amd64 -t IMAGE .", safe=True),)
