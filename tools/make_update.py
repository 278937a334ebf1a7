"""Make the file that `gpuwhy releases --update` takes, from the rows of this checkout.

    python -m tools.make_update OUT.zip [--made 2026-11-15T12:00:00Z]
    minisign -S -s ~/.minisign/gpuwhy.key -m OUT.zip          writes OUT.zip.minisig; publish both, and the public key

The secret key stays off the machine that builds: sign by hand, or in a job that holds nothing else.
`minisign -G` makes a pair.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from gpuwhy.knowledge import update

FOLDER = Path(__file__).resolve().parent.parent / "src" / "gpuwhy" / "knowledge" / "data" / "releases"


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--made", default=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    options = parser.parse_args()
    parts = {path.name: path.read_bytes() for path in FOLDER.glob("*.json*")}
    newest = json.loads(parts["newest.json"])["newest"]
    data = update.packed(parts, options.made, newest)
    update.checked(data)
    Path(options.out).write_bytes(data)
    print(f"{options.out}: {len(data):,} bytes, {len(parts)} files, releases up to {newest}")


if __name__ == "__main__":
    main()
