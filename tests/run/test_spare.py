"""A limit of processor time is the program's, and does not end us."""

from __future__ import annotations

import os
import resource
import signal

from gpuwhy.cli.run import apart
from gpuwhy.run import child as spare


def _in_a_child(do) -> int:
    """What a child process answers, so that no limit is ours."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = do()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_the_soft_limit_is_lifted_and_told():
    def do() -> int:
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (50, hard))
        before = spare.lifted()
        return (
            0 if before == (50, hard) and resource.getrlimit(resource.RLIMIT_CPU)[0] != 50 and not spare.bound() else 1
        )

    assert _in_a_child(do) == 0


def test_a_hard_limit_is_known():
    def do() -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (50, 50))
        return 0 if spare.bound() == 50 else 1

    assert _in_a_child(do) == 0


def test_what_ends_the_one_who_tells_is_told():
    assert apart(lambda: None) == 0
    assert spare.by_time(apart(lambda: os.kill(os.getpid(), signal.SIGXCPU)))
