"""How a process ended: signals, exit codes, core dumps, a dead notebook kernel."""

from __future__ import annotations

from gpuwhy.knowledge.windows_codes import statuses
from gpuwhy.model.signature import Signature, echo, error, vague

SIGNATURES: tuple[Signature, ...] = (
    *(vague(f"ntstatus.{name}", rf"(?<![\w-])(?:{'|'.join(written)})\b", *written) for name, written in statuses()),
    error("signal.segv", r"segmentation fault|sigsegv|\bsegfault|signal 11\b|exit(?:ed with)? ?code:? ?-?(?:11|139)\b|access violation|0xc0000005",
          "segmentation fault", "sigsegv", "segfault", "signal 11", "exit code 139", "exit code -11", "exitcode -11", "exitcode: -11", "access violation",
          "0xc0000005", "exited with code 139", "code: 139"),
    error("signal.bus", r"bus error|sigbus|signal 7\b|exit(?:ed with)? ?code:? ?-?(?:7|135)\b", "bus error", "sigbus", "signal 7", "exit code 135", "exited with code 135",
          "exit code -7"),
    echo("signal.abort", r"aborted \(core dumped\)|\baborted\b|sigabrt|signal 6\b|terminate called|core dumped|exit(?:ed with)? ?code:? ?-?(?:6|134)\b",
         "aborted", "sigabrt", "signal 6", "terminate called", "core dumped", "exit code 134", "exit code -6"),
    echo("signal.told", r"^(?:[^\n]{1,200}: line \d+: +)?(?:\d{1,9} )?(?P<what>terminated|alarm clock"
         r"|(?:virtual|profiling) timer expired|user defined signal [12])(?: +\S[^\n]{0,200})?$"
         r"|\d (?P<what2>hangup)(?: +\S[^\n]{0,200})?$|exit(?:ed with)? ?code:? ?(?P<what3>143|-15)\b",
         "terminated", "alarm clock", "timer expired", "user defined signal", "hangup", "exit code 143",
         "exit code: 143", "exited with code 143", "exit code -15", "exit code: -15"),
    error("signal.windows", r"0xc0000409|-1073740791|0xc000001d|-1073741795",
          "0xc0000409", "-1073740791", "0xc000001d", "-1073741795"),
    error("signal.kernel_died", r"kernel (?:appears to have )?died|kernel restarting|kernel (?:crashed|keeps dying)|the kernel [^\n]*died", "kernel appears to have died",
          "kernel died", "kernel restarting", "kernel crashed", "keeps dying"),
)  # fmt: skip
