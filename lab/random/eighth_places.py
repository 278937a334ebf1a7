"""Eighth operators, limits and places: sizes of files, stacks, processor time, folders that may not be executed or are full."""

from __future__ import annotations

from lab.random.eighth import (
    ANY,
    BAD,
    BUILD,
    COMPILER,
    HOST,
    ILL,
    LIGHT,
    LIM,
    OT,
    PATH,
    SET,
    Case,
    T,
    enter,
)

JIT = "triton-add torch-compile"
NEAR = (OT, BUILD, COMPILER)
enter(
    "limit-kinds",
    Case(JIT, "files of 8 kB at most", LIM, NEAR, limit="ulimit -f 8", void="", dress="none"),
    Case("cupy-raw cupy-random", "files of nothing at most", LIM, NEAR, limit="ulimit -f 0", void="", dress="none"),
    Case(LIGHT, "one second of the processor", LIM, (OT, HOST), limit="ulimit -t 1", void="", dress="shell"),
    Case(LIGHT, "a stack of 48 kB", LIM, (OT, HOST, ILL), limit="ulimit -s 48", void="", dress="none"),
    Case(LIGHT, "data of 200 MB", LIM, (OT, HOST), limit="ulimit -d 200000", void=""),
    Case(LIGHT, "address space of 6 GB", LIM, (OT, HOST, "memory.oom", "driver.not_ready"), limit="ulimit -v 6000000", void=""),
    Case(LIGHT, "thirty open files", LIM, (OT,), limit="ulimit -n 30", void=""),
    Case(LIGHT, "harmless: no core, no locked memory, few messages", LIM, (OT,), limit="ulimit -c 0; ulimit -l 0; ulimit -q 0; ulimit -x 0"),
    Case(LIGHT, "harmless: files of 2 GB at most", LIM, (OT,), limit="ulimit -f 2000000"),
)  # fmt: skip
SPOT = "mkdir -p $W/k; mount -t tmpfs -o {0} none $W/k || exit 97; chmod 777 $W/k"
CACHES = {"TRITON_CACHE_DIR": "$W/k/t", "TORCHINDUCTOR_CACHE_DIR": "$W/k/i", "TMPDIR": "$W/k"}
enter(
    "place-kinds",
    Case(JIT, "caches where nothing may be executed", LIM, (*NEAR, SET, BAD, "driver.permission"), setup=SPOT.format("noexec,size=64m"), environ=CACHES, void=""),
    Case(JIT, "caches of 12 files at most", LIM, (*NEAR, SET), setup=SPOT.format("nr_inodes=12,size=64m"), environ=CACHES, void=""),
    Case(JIT, "caches of 40 kB", LIM, (*NEAR, SET), setup=SPOT.format("size=40k"), environ=CACHES, void=""),
    Case(JIT, "caches on a read-only disk", LIM, (*NEAR, SET), setup=SPOT.format("ro"), environ=CACHES, void=""),
    Case("cupy-raw cupy-random cupy-matmul", "home is a file", LIM, (*NEAR, SET, PATH), setup="echo gone > $W/nohome", environ={"HOME": "$W/nohome", "CUPY_CACHE_DIR": "$W/nohome/.cupy"}, void=""),
    Case("cupy-raw", "cache is a link that leads in a circle", LIM, (*NEAR, SET, PATH), setup="ln -s $W/loop $W/loop", environ={"CUPY_CACHE_DIR": "$W/loop"}, void=""),
    Case("torch-loader", "temporary folder with a very long name", LIM, (OT, PATH, SET), setup="N=$W/$(printf 'scratch-of-the-job-%.0s' 1 2 3 4 5 6 7 8); mkdir -p $N; chmod 777 $N; ln -sfn $N $W/long", environ={"TMPDIR": "$W/long"}, void="", before="import os, tempfile\nos.environ['TMPDIR'] = tempfile.tempdir = os.path.realpath(os.environ['TMPDIR'])\nimport multiprocessing as _mp\n_mp.set_start_method('forkserver', force=True)\n"),
    Case("torch-loader", "shared memory is read-only", HOST, (LIM, OT, SET), setup="mount -t tmpfs -o ro none /dev/shm || exit 97", void=""),
    Case("torch-loader", "shared memory belongs to somebody else", LIM, (HOST, OT, SET, "driver.permission"), setup="mount -t tmpfs -o mode=0700,size=64m none /dev/shm || exit 97", user="nobody", void=""),
    Case(LIGHT, "nowhere to put a temporary file", LIM, (OT, PATH, SET), setup="for d in /tmp /var/tmp /usr/tmp; do [ -d $d ] && { mount -t tmpfs -o ro none $d || exit 97; }; done; mkdir -p $W/d/x; mount -t tmpfs -o ro none $W/d/x", environ={"TMPDIR": "/nonexistent"}, before="import os, tempfile\nos.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'x'))\ntempfile.mkdtemp(prefix='run-')\n", void=""),
    Case(LIGHT, "harmless: temporary folder is not there", LIM, (OT, PATH, SET), environ={"TMPDIR": "/nonexistent/tmp", "TEMP": "/x"}),
    Case("cupy-raw triton-add", "harmless: an old cache of another owner", LIM, (OT, SET), setup="mkdir -p $W/k/old; echo x > $W/k/old/f; chmod -R 755 $W/k; chmod 777 $W/k", environ={"CUPY_CACHE_DIR": "$W/k", "TRITON_CACHE_DIR": "$W/k"}),
)  # fmt: skip
SAVE = "torch.save({'w': torch.ones(1 << 18, device='@D@')}, @WHERE@)\nprint('saved')\n"
enter(
    "saving-fails",
    Case("torch", "disk of one megabyte", LIM, (OT,), setup="mkdir -p $W/d/ck; mount -t tmpfs -o size=512k none $W/d/ck || exit 97", code=T + SAVE.replace("@WHERE@", "'ck/m.pt'"), expect="(?i)space|write|PytorchStream", dress="shell"),
    Case("torch", "folder that was never made", OT, (PATH, LIM), code=T + SAVE.replace("@WHERE@", "'runs/17/m.pt'"), expect="runs"),
    Case("torch", "read-only project", LIM, (OT,), setup="mkdir -p $W/d/ck; mount -t tmpfs -o ro none $W/d/ck || exit 97", code=T + SAVE.replace("@WHERE@", "'ck/m.pt'"), expect="(?i)read-only|ck", dress="shell"),
    Case("torch", "file limit while saving", LIM, (OT,), code="import resource, signal\n" + T + "torch.ones(2, device='@D@')\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n" + SAVE.replace("@WHERE@", "'m.pt'"), expect="(?i)too large|write|PytorchStream"),
    Case(ANY, "results on a full device", LIM, (OT,), after="with open('/dev/full', 'w') as f:\n    f.write('epoch,loss\\n' * 4000)\n", expect="No space"),
)  # fmt: skip
