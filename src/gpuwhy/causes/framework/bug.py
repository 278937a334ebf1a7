"""framework.bug: this release of the framework or library has a bug."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix("Try the newest release", "pip install --upgrade torch", safe=True, check="gpuwhy explain LOG"),
        Fix("Or the release before", 'pip install "torch<2.9"', safe=True, check="gpuwhy explain LOG"),
        Fix(
            "See whether cuDNN is at fault: switch it off (torch.backends.cudnn.enabled = False)",
            check="gpuwhy explain LOG",
        ),
        Fix("Report it with a small program that shows it", check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="framework.bug",
    title="this release of the framework or library has a bug",
    signs=(needs_output,),
    fixes=fixes,
    effect="This release has a bug",
    needs_log=True,
)
