"""`gpuwhy fit`: will this use of a model fit into this GPU, and what change would make it fit?"""

import argparse

from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, output, refused
from gpuwhy.fit import ask, report
from gpuwhy.fit.answer import FitError, values

SAME = (
    *("batch", "tokens", "optimizer", "dtype", "amp", "checkpointing", "quantise"),
    *("kv_dtype", "attention", "framework", "tp", "zero", "gpus"),
)
"""Options that are fields of Use by the same name."""
CODES = {"fits": HEALTHY, "only_just": PERHAPS, "unknown": PERHAPS, "does_not_fit": FOUND}


def go(options: argparse.Namespace) -> int:
    """Read, count, print."""
    use = {name: getattr(options, name) for name in SAME} | {"rank": options.lora_rank}
    use |= {"gpu": tuple(options.gpu), "gpu_memory": tuple(options.gpu_memory)}
    if options.fsdp:
        use |= {"zero": 3, "gpus": options.fsdp}
    with refused(FitError):
        found = ask.fit(options.model, train=options.train, **use)
    output.put(options, report.document(found, options.verbose), values(found))
    return CODES[found.status]
