"""gpuwhy.guard() around code, as a decorator, and beside an error that is none of the GPU stack."""

import gpuwhy

OOM = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 7.79 GiB of "
    "which 1.00 GiB is free. Of the allocated memory 5.00 GiB is allocated by PyTorch."
)


def shown(error: BaseException) -> None:
    print(type(error).__name__, error)
    print(*getattr(error, "__notes__", ["(no note)"]), sep="\n")


@gpuwhy.guard(machine=False)
def step() -> None:
    raise RuntimeError(OOM)


try:
    step()
except RuntimeError as error:
    shown(error)
try:
    with gpuwhy.guard(machine=False):
        {}["lr"]
except KeyError as error:
    shown(error)
