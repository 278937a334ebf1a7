"""`python -m tools.site OUT`: build the site, strictly. Needs the extra `docs`.

Stages the pages beside OUT (OUT.src), writes the table of contents, and has the generator build it: a link to nowhere,
an anchor that is not there or a page that nobody lists ends it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from tools.site import stage

CONFIG = stage.ROOT / "docs" / "site" / "mkdocs.yml"


def main(argv: list[str]) -> int:
    """Stage and build."""
    out = Path(argv[0]).resolve()
    folder = out.with_name(out.name + ".src")
    site = stage.write(folder / "pages")
    lost = list(stage.orphans(site))
    if lost:
        print("in no table of contents:", *lost, sep="\n")
        return 1
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    config |= {"docs_dir": "pages", "site_dir": "site", "nav": stage.nav(site)}
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(folder / "mkdocs.yml")]
    code = subprocess.run(command).returncode
    if code == 0:
        shutil.rmtree(out, ignore_errors=True)
        shutil.move(folder / "site", out)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
