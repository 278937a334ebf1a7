"""Set where: a variable has to reach the process that fails: in a notebook, a service, a job, a container or R that is another place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.causes.text.asked import Asked
from gpuwhy.causes.text.later import Later
from gpuwhy.model.cause import Fix

_SETS = re.compile(r"(?m)^(?:export|unset) ")
_PLACES = (
    (Later(r"library\((?:tensorflow|torch|keras|reticulate)\)|\bRStudio\b|\breticulate\b"), "for R: in the file ~/.Renviron, as NAME=VALUE, then start R anew"),
    (Later(r"ipykernel|ipython-input|\bjupyter|\bnotebook\b|In \[\d+\]", re.IGNORECASE), "for a notebook: in the shell before Jupyter is started, or under \"env\" in the kernel's kernel.json"),
    (Later(r"systemd|systemctl|\.service\b|\bollama\b[^\n]{0,30}(?:serve|routes\.go|source=)|source=\w+\.go:\d", re.IGNORECASE), 'for a service: sudo systemctl edit NAME, below [Service] Environment="NAME=VALUE", then restart it'),
    (Later(r"#SBATCH|\bsbatch\b|\bslurm|\bsrun\b", re.IGNORECASE), "on a cluster: in the job's script, before srun or python"),
    (Later(r"\bpycharm\b", re.IGNORECASE), "in PyCharm: in the run configuration, under environment variables"),
)  # fmt: skip
"""Where the process is started, by the words of a text, and where its variables are set there; the first that fits counts."""


def reaching(fixes: Sequence[Fix], case: Asked) -> Iterator[Fix]:
    """The fixes; those that set a variable say where, if a plain shell is not the place."""
    hint = "" if case.windows else next((told for words, told in _PLACES if words.search(case.text)), "")
    for fix in fixes:
        sets = bool(hint) and _SETS.search(fix.command) and hint not in fix.text
        yield structs.replace(fix, text=f"{fix.text}; {hint}") if sets else fix
