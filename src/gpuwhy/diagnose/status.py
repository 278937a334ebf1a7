"""A status by itself: the causes that are told where a log says nothing else."""

from msgspec.structs import replace

from gpuwhy.diagnose.weigh import diagnose
from gpuwhy.knowledge.codes import Code, signature
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message
from gpuwhy.log.read import read

TOLD = 0.05
"""The confidence from which on a cause is told among others."""
MOST = 5


def behind(code: Code) -> Code:
    """A status with the causes that `explain` tells where nothing but that status is said."""
    number = code.numbers[0].code if code.numbers else 0
    if code.api == "windows":
        ends = f"exit code 0x{number:X}\n"  # a status; an error is what LoadLibrary gives
        log = read(ends if number > 0xFFFF else f"LoadLibrary failed with error {number}\n")
    elif name := signature(code):
        said = Message(name, 1, name, fields={"xid": str(number)})
        log = Log(messages=(said,), mentions_gpu=True)
    else:
        return code
    found = tuple(one.cause for one in diagnose(log).causes if one.confidence >= TOLD)
    return replace(code, causes=found[:MOST])
