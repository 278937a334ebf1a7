"""Make real programs fail on a machine without a GPU, each in a known way, and keep what they print.

    python3 tools/capture_lab.py LAB OUT.jsonl [NAME…]     repeat the failures of lab_failures.py: all, or the named
    python3 tools/capture_lab.py LAB --install             make the environments they run in (uv, pyenv, 60 GB)

LAB is a folder of Python environments (`lab_failures.ENVIRONMENTS`), Debian's libcuda1, libnvidia-ml1 and nvidia-smi
535.261.03 unpacked by hand (`apt/x`, `smi`), and stand-ins for the first two (`driver`, `nvml`: made from lab_driver.c
and lab_nvml.c, answers in FAKECUDA and FAKENVML), so that a driver's state can be chosen. A few rows also want cuDNN
and nvJitLink of other releases (`cudnn912`, `cudnn-8.5.0.96`, `cudnn-8.9.2.26`, `nvj121`) and CUDA 13.0 in /usr/local.
An environment is broken in a hard-linked copy, by removing files and writing new ones: LAB itself stays whole. Run it
as root: mounts, and a kernel module's file in /proc, live in a namespace of their own.

One JSON line per failure: {"id", "how", "cause", "also", "why", "log"}. The cause was decided from the provocation,
before any log was explained. `also` holds what the text alone cannot tell from it, `why` says why.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lab_failures import ENVIRONMENTS, FAILURES, Failure

LINES = 80
PYTHONS = Path.home() / ".pyenv/versions"
RELEASES = {  # a driver release for the CUDA version that a stand-in says it has
    "10020": "440.33.01",
    "11020": "460.32.03",
    "11040": "470.256.02",
    "11080": "520.61.05",
    "12020": "535.261.03",
    "12040": "550.163.01",
    "12090": "575.51.03",
    "13000": "580.65.06",
    "13020": "595.45.04",
}
NO_NODES = ("setpriv", "--bounding-set=-mknod")  # root's libcuda and NVML make device nodes, which then stay
NAMELESS = (  # what a log must not tell about the machine it comes from
    (r"/(?:tmp|home|var)/[\w./-]*?/capture-[\w]+/venv\b", "/home/user/venv"),
    (r"/(?:tmp|home|var)/[\w./-]*?/?capture-[\w]+", "/home/user/project"),
    (r"[\w./-]*/\.pyenv/versions/([\d.]+)", r"/opt/python-\1"),
    (r"(?<![\w.-])/root\b", "/home/user"),
    (r"(?m)^(?:Looking in (?:indexes|links)|\s*WARNING: Retrying|.*[Dd]ownloading https?:).*\n", ""),
    (r"https?://[\w.-]+/(?:simple|packages|pypi)/\S*", "INDEX"),
    (r"(hostname: )\S+", r"\1host"),
    (r"(on this host )\(\S+\)", r"\1(host)"),
)


def install(lab: Path) -> None:
    """Make the environments that LAB does not have yet."""
    for name, (python, packages) in ENVIRONMENTS.items():
        if (lab / name).exists():
            continue
        home = str(PYTHONS / python / "bin/python")
        target = ["-p", home, "--target", str(lab / name), "--no-deps"]
        if not name.startswith("extra/"):
            subprocess.run(["uv", "venv", "-q", "-p", home, str(lab / name)], check=True)
            target = ["-p", str(lab / name / "bin/python")]
        for step in packages.split(" && "):
            subprocess.run(["uv", "pip", "install", "-q", *target, *step.split()], check=True)
    stand_in(lab, "lab_driver.c", "libcuda.so")
    stand_in(lab, "lab_nvml.c", "libnvidia-ml.so")


def stand_in(lab: Path, source: str, soname: str) -> None:
    """Build a stand-in library: its C source, and a stub for every other name that the real library exports."""
    real = next((lab / "apt/x").rglob(f"{soname}.*.*"))
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(real)], capture_output=True, text=True, check=True
    ).stdout
    code = Path(__file__).with_name(source)
    own = set(re.findall(r"^API [\w ]+?\*?(\w+)\(", code.read_text(), re.MULTILINE))
    names = sorted(set(re.findall(r" T ((?:cu[A-Z]|nvml)\w+)", listed)) - own)
    visible = '__attribute__((visibility("default")))'
    stubs = lab / "driver/stubs.c"
    stubs.parent.mkdir(exist_ok=True)
    lines = [f'{visible} int {name}(void) {{ return standin_note("{name}"); }}\n' for name in names]
    stubs.write_text("int standin_note(const char *);\n" + "".join(lines))
    folder = lab / source.removesuffix(".c").removeprefix("lab_")
    folder.mkdir(exist_ok=True)
    options = ["-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-w", f"-Wl,-soname,{soname}.1"]
    subprocess.run(["gcc", *options, str(code), str(stubs), "-o", str(folder / f"{soname}.1"), "-ldl"], check=True)


def surroundings(one: Failure, lab: Path, work: Path, venv: Path) -> dict[str, str]:
    """The environment variables of one run: nothing of this shell's but what the failure names."""
    site = next(iter(sorted(venv.glob("lib/python3*/site-packages"))), venv)
    given = {"LAB": str(lab), "SITE": str(site), "VENV": str(venv), "WORK": str(work)}
    given["PYTHONS"] = str(PYTHONS)
    base = {
        "PATH": f"{venv}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(work),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        **given,
    }
    for key, value in one.environ.items():
        base[key] = re.sub(r"\$(LAB|SITE|VENV|WORK)", lambda m: given[m[1]], value)
    return base


def load_module(one: Failure, lab: Path, work: Path) -> str:
    """Name the stand-in driver after a release, and give the shell that shows its kernel module as loaded."""
    said = dict(part.split("=") for part in one.environ["FAKECUDA"].split(";"))
    release = RELEASES[said["driver"]]
    folder = work / "driver"
    folder.mkdir()
    shutil.copy(lab / "driver/libcuda.so.1", folder / f"libcuda.so.{release}")
    (folder / "libcuda.so.1").symlink_to(f"libcuda.so.{release}")
    line = (
        f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {said.get('module', release)}  Mon Jan  6 16:42:13 UTC 2025"
    )
    version = "/proc/driver/nvidia/version"
    return f"mount -t tmpfs none /proc/driver && mkdir /proc/driver/nvidia && echo '{line}' > {version}; "


def run(one: Failure, lab: Path) -> str:
    """What the program printed; the shell adds the line about a signal."""
    work = Path(tempfile.mkdtemp(prefix="capture-"))
    try:
        venv = lab / one.where
        if one.breaks and one.where:
            venv = work / "venv"
            subprocess.run(["cp", "-al", str(lab / one.where), str(venv)], check=True)
        environ = surroundings(one, lab, work, venv)
        if one.breaks:
            subprocess.run(["bash", "-ec", one.breaks], env=environ | {"LD_LIBRARY_PATH": ""}, cwd=work, check=True)
        (work / "train.py").write_text(one.code)
        before = load_module(one, lab, work) if "FAKECUDA" in one.environ else ""
        command = f"{before}ulimit -c 0; {one.shell or 'python train.py; exit $?'}"
        argv = [*(["unshare", "-m"] if before else []), *NO_NODES, "bash", "-c", command]
        done = subprocess.run(
            argv, env=environ, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240
        )
        return nameless(done.stdout.decode(errors="replace"), lab)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def nameless(text: str, lab: Path) -> str:
    """The text without this machine's paths and names, cut in the middle where it is long."""
    for pattern, instead in ((re.escape(str(lab)) + r"\b", "/home/user"), *NAMELESS):
        text = re.sub(pattern, instead, text)
    lines = [line.rstrip() for line in text.split("\n")]
    if len(lines) > LINES:
        half = LINES // 2 - 1
        lines = [*lines[:half], f"[… {len(lines) - 2 * half} lines …]", *lines[-half:]]
    return "\n".join(line if len(line) <= 2000 else line[:1000] + " […] " + line[-900:] for line in lines)


def main(lab: Path, out: Path, names: list[str]) -> None:
    """Provoke every failure, or the named ones; the other lines of OUT stay."""
    kept = {row["id"]: row for row in map(json.loads, out.read_text().splitlines())} if out.exists() else {}
    for name in names or FAILURES:
        one = FAILURES[name]
        try:
            log = run(one, lab)
        except (subprocess.SubprocessError, OSError) as problem:
            print(name, "not provoked:", problem, flush=True)
            continue
        row = {"id": name, "how": one.how, "cause": one.cause, "also": list(one.also), "why": one.why, "log": log}
        kept[name] = row if one.also else {k: v for k, v in row.items() if k != "why"}
        print(name, len(log), flush=True)
        rows = [kept[n] for n in FAILURES if n in kept]
        out.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")


if __name__ == "__main__":
    place = Path(sys.argv[1]).resolve()
    os.umask(0o022)
    if sys.argv[2] == "--install":
        install(place)
    else:
        main(place, Path(sys.argv[2]), sys.argv[3:])
