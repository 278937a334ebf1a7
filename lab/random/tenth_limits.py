"""Tenth operators, fences: system calls refused by a filter, nodes that change under a program, places a program names, stages in a row."""

from __future__ import annotations

from lab.random.tenth import (  # fmt: skip
    CLOSED,
    FORK,
    HOST,
    LIGHT,
    LIM,
    NO_GPU,
    NONE,
    NOT_READY,
    OOM,
    OT,
    PEER,
    SEL,
    SET,
    SHA,
    Case,
    J,
    T,
    enter,
)

FILTER = (
    "#include <errno.h>\\n#include <linux/filter.h>\\n#include <linux/seccomp.h>\\n#include <stddef.h>\\n#include <stdio.h>\\n#include <sys/prctl.h>\\n#include <sys/syscall.h>\\n#include <unistd.h>\\n"
    "int main(int n, char** v) { struct sock_filter f[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), @RULES@ BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) }; "
    'struct sock_fprog p = { sizeof f / sizeof f[0], f }; if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) { perror("fence"); return 97; } execv(v[1], v + 1); perror(v[1]); return 97; }\\n'
)
RULE = "BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_@C@, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | @E@),"
HIDDEN = (NO_GPU, NONE, NOT_READY, LIM, SEL)


def fenced(target: str, calls: str, cause: str, also: tuple[str, ...], needs: str = LIGHT, error: str = "EPERM") -> Case:  # fmt: skip
    """The program behind a filter that refuses some system calls, as a sandbox does."""
    rules = "".join(RULE.replace("@C@", call).replace("@E@", error) for call in calls.split())
    text = FILTER.replace("@RULES@", rules).replace("%", "%%").replace("'", "'\\''")
    setup = f"printf '{text}' > $W/fence.c; gcc -o $W/fence $W/fence.c || exit 97; rm $W/fence.c"
    return Case(needs, target, cause, also, setup=setup, command="exec $W/fence $PYTHON $SCRIPT", void="")


enter(
    "fenced-by-a-filter",
    fenced("no ioctl", "ioctl", CLOSED, HIDDEN),
    fenced("no ioctl, as if it did not exist", "ioctl", CLOSED, HIDDEN, error="ENOSYS"),
    fenced("no new processes", "clone clone3 fork vfork", LIM, (OT, HOST, SET), "torch-loader torch-compile torch-matmul", "EAGAIN"),
    fenced("no sockets", "socket socketpair", LIM, (PEER, OT, "distributed.nccl", CLOSED), "torch-nccl torch-loader", "EACCES"),
    fenced("harmless: no start by an open file", "execveat", OT, (), "triton-add torch-compile"),
    fenced("no pipes and no events", "pipe2 eventfd2", LIM, (OT, *HIDDEN, CLOSED), error="EMFILE"),
    fenced("harmless: no debugging of others", "ptrace process_vm_readv perf_event_open", OT, ()),
    fenced("harmless: no memory policies, no priorities", "set_mempolicy sched_setscheduler setpriority", OT, ()),
)  # fmt: skip


def midway(target: str, cause: str, also: tuple[str, ...], node: str, how: str, needs: str = "torch-matmul torch-fft cupy-matmul jax-matmul") -> Case:  # fmt: skip
    """The node goes while the program is up and before it first uses the card; only its own view of /dev changes."""
    code = f"import subprocess\nsubprocess.run(['mount', '--bind', '{how}', '/dev/{node}'], check=True)\nprint('prolog done', flush=True)\n"
    return Case(needs, f"{node}: {target}", cause, also, before=code, void="mount: ", dress="shell")


enter(
    "nodes-change-midway",
    midway("becomes a sink", CLOSED, HIDDEN, "nvidiactl", "/dev/null"),
    midway("becomes a sink", CLOSED, HIDDEN, "nvidia0", "/dev/null"),
    midway("becomes a sink", CLOSED, HIDDEN, "nvidia-uvm", "/dev/null"),
    midway("becomes a text", CLOSED, HIDDEN, "nvidia-uvm", "/etc/hostname"),
    midway("becomes another card's manager", CLOSED, HIDDEN, "nvidia0", "/dev/nvidiactl"),
)  # fmt: skip
RO = "mkdir -p $W/r; mount -t tmpfs -o size=2m none $W/r || exit 97; echo x > $W/r/old.bin; mount -o remount,ro $W/r || exit 97"
TINY = "mkdir -p $W/r; mount -t tmpfs -o size=96k none $W/r || exit 97; chmod 777 $W/r"


def placed(needs: str, target: str, setup: str, after: str, expect: str, also: tuple[str, ...] = (OT,)) -> Case:
    """A program that computes well and then puts something where nothing can be put."""
    return Case(needs, target, LIM, also, setup=setup, after="import os\nR = os.environ['W'] + '/r/'\n" + after, environ={"W": "$W"}, expect=expect)  # fmt: skip


FULL, SHUT = "(?i)no space|space left|write|failed|unexpected pos", "(?i)read-only|denied|failed|open"
enter(
    "results-without-room",
    placed("torch-matmul torch-fft", "weights", TINY, "torch.save(torch.ones(1 << 18), R + 'm.pt')\n", FULL + "|enforce|iostream"),
    placed("torch-matmul torch-fft", "exported program", RO, "m = torch.jit.script(torch.nn.Linear(2, 2))\nm.save(R + 'm.ts')\n", SHUT + "|iostream"),
    placed("jax-matmul jax-grad", "arrays", TINY, "import numpy\nnumpy.savez(R + 'a.npz', numpy.asarray(jnp.ones((512, 512))))\n", FULL),
    placed("cupy-matmul cupy-fft", "arrays of CuPy", TINY, "cupy.save(R + 'a.npy', cupy.ones((512, 512)))\n", FULL),
    placed(LIGHT, "a line of the log", RO, "import logging\nlogging.basicConfig(filename=R + 'run.log')\nlogging.error('step 1')\n", SHUT),
    placed(LIGHT, "old files cleared", RO, "os.unlink(R + 'old.bin')\n", SHUT),
    placed(LIGHT, "a database of runs", TINY, "import sqlite3\nc = sqlite3.connect(R + 'runs.db')\nc.execute('create table t (b blob)')\nc.execute('insert into t values (?)', (bytes(1 << 20),))\nc.commit()\n", "(?i)full|disk|space"),
)  # fmt: skip


def staged(target: str, cause: str, also: tuple[str, ...], first: str, second: str, expect: str, needs: str = "torch-graph") -> Case:  # fmt: skip
    """Two stages: the first fails and is not heeded, the second misses its result; the first is why."""
    command = "$PYTHON $SCRIPT || true; $PYTHON -c \"import pickle; d = pickle.load(open('stage1.pkl', 'rb')); print(len(d))\""
    code = first + second
    return Case(needs, target, cause, also, code=code, command=command, expect=expect, void="")


KEEP = "import pickle\npickle.dump([1, 2], open('stage1.pkl', 'wb'))\n"
enter(
    "first-stage-not-heeded",
    staged("features beyond the card", OOM, (), T + "x = torch.empty(1 << 44, device='cuda')\n", KEEP, "(?i)out of memory"),
    staged("card that is not there", SEL, (), T + "x = torch.ones(4, device='cuda:6')\n", KEEP, "(?i)ordinal"),
    staged("shapes that do not fit", SHA, (), T + "x = torch.ones(4, 3, device='cuda') @ torch.ones(4, 3, device='cuda')\n", KEEP, "(?i)shapes cannot"),
    staged("forked after the start", FORK, (), "import multiprocessing as mp\n" + T + "x = torch.ones(4, device='cuda')\ndef f(i):\n    return (x + i).sum().item()\nif __name__ == '__main__':\n    with mp.get_context('fork').Pool(1) as p:\n        print(p.apply(f, (1,)))\n", "    pass\n" + KEEP, "(?i)re-initialize|initialization"),
    staged("platform of another name", SET, (SEL,), "import os\nos.environ['JAX_PLATFORMS'] = 'gpux'\n" + J + "print(jnp.ones(3), 'cuda')\n", KEEP, "(?i)gpux"),
)  # fmt: skip


def loaded(target: str, cause: str, also: tuple[str, ...], command: str, expect: str) -> Case:
    """Another process on the same machine is in the way."""
    return Case(LIGHT, target, cause, also, command=command, expect=expect, void="", dress="none")


enter(
    "neighbours-in-the-way",
    loaded("port of the service is taken", PEER, (OT, LIM), "$PYTHON -c 'import socket, time; s = socket.socket(); s.bind((\"127.0.0.1\", @O@)); s.listen(); time.sleep(100)' & p=$!; sleep 1; $PYTHON $SCRIPT && $PYTHON -c 'import http.server; http.server.HTTPServer((\"127.0.0.1\", @O@), None)'; c=$?; kill $p; exit $c", "(?i)in use"),
    loaded("result's file is locked by the last run", OT, (LIM, PEER), "(flock 8; exec sleep 100) 8> $W/out.lock & p=$!; sleep 0.3; $PYTHON $SCRIPT && flock -w 1 $W/out.lock true || { echo 'publish: out.lock is still held by run 117' >&2; kill $p; exit 11; }", "out.lock"),
    loaded("watchdog of the node ends it", LIM, (OT, HOST), "$PYTHON -c 'import time; time.sleep(30)' & p=$!; $PYTHON $SCRIPT; (sleep 0.5; echo 'node-guard: user over quota of 1 process, sending SIGKILL' >&2; kill -9 $p) & wait $p", "node-guard"),
    loaded("pipe to a collector that has gone", OT, (PEER, LIM), "set -o pipefail; { $PYTHON $SCRIPT; $PYTHON -c 'import sys, time; time.sleep(1); [print(\"x\" * 9999) for _ in range(99)]; sys.stdout.flush()'; } | head -c 10", "(?i)broken pipe"),
)  # fmt: skip
