"""Breaks real environments, has gpuwhy repair them, and judges the result without gpuwhy.

`python -m tests.repair.lab FOLDER OUT.jsonl [ID…]` scores the table; rows that OUT has already are left out, so that it
goes on where it was stopped. FOLDER keeps the healthy environments between calls.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from . import wheels
from .breaks import BASES, BREAKS, Break

LIMIT = 900.0
_KEPT = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH", "CONDA_PREFIX")}


def call(*argv: str, seconds: float = LIMIT, **more: str) -> subprocess.CompletedProcess[str]:
    """Run to the end, with both outputs as text."""
    environ = {**_KEPT, **more}
    return subprocess.run(
        argv, capture_output=True, text=True, errors="replace", timeout=seconds, env=environ, stdin=subprocess.DEVNULL
    )


def interpreter(version: str) -> str:
    """A Python of that version: one of pyenv's, or on PATH; "" where there is none."""
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    ours = sorted(root.glob(f"versions/{version}.*/bin/python"))
    return str(ours[-1]) if ours else shutil.which(f"python{version}") or ""


def base(folder: Path, name: str) -> Path:
    """The healthy environment of that name, made once."""
    python, wanted = BASES[name]
    made = folder / f"base-{name}"
    if not (made / "whole").exists():
        shutil.rmtree(made, ignore_errors=True)
        _good(call(wheels.UV, "venv", "-q", "--no-project", "--python", interpreter(python), str(made)))
        for words in wanted:
            _good(call(wheels.UV, "pip", "install", "-q", "--python", f"{made}/bin/python", *words.split()))
        (made / "whole").touch()
    return made


def _good(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, done.args))}: {done.stderr[-2000:]}")


def linked(source: Path, target: Path) -> Path:
    """A copy of an environment by hard links: the lab changes files only by replacing them.

    Its activation and its scripts name its own folder, as those of an environment that was made there.
    """
    shutil.rmtree(target, ignore_errors=True)
    _good(call("cp", "-al", str(source), str(target)))
    for file in (target / "bin").iterdir():
        data = b"" if file.is_symlink() else file.read_bytes()
        if str(source).encode() in data:
            mode = file.stat().st_mode
            file.unlink()
            file.write_bytes(data.replace(str(source).encode(), str(target).encode()))
            file.chmod(mode)
    return target


def do(env: Path, step: str) -> None:
    """One step of a break."""
    word, _, rest = step.partition(" ")
    if word in ("install", "uninstall"):
        _good(call(wheels.UV, "pip", word, "-q", "--python", f"{env}/bin/python", *rest.split()))
    elif word == "dead":
        link = env / "bin" / "python"
        link.unlink()
        link.symlink_to("/nowhere/python3")
    elif word == "conda":
        (env / "pyvenv.cfg").unlink()
        (env / "conda-meta").mkdir()
        (env / "conda-meta" / "history").touch()
        _own_python(env)
    elif word == "meta":
        _second_metadata(env, *rest.split())
    elif word in ("foreign", "pth"):
        _elsewhere(env, word, *rest.split())
    elif word in ("gone", "unlist"):
        names = wheels.site(env).glob(rest if word == "gone" else f"{rest}-*.dist-info/RECORD")
        for path in list(names):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif word in _BESIDE:
        _BESIDE[word](env, rest.replace("{env}", str(env)).replace("{site}", str(wheels.site(env))))
    elif word == "strip":
        for path in list(wheels.site(env).glob(rest)):
            shutil.copy2(path, f"{path}.own")
            os.replace(f"{path}.own", path)
            _good(call("strip", str(path)))
    else:
        _damage(wheels.site(env) / rest, word)


def _own_python(env: Path) -> None:
    """A prefix of its own, as conda has: the real interpreter and its library, linked in."""
    real = (env / "bin" / "python").resolve()
    (env / "bin" / "python").unlink()
    shutil.copy2(real, env / "bin" / "python")
    library = real.parent.parent / "lib" / wheels.site(env).parent.name
    for one in library.iterdir():
        if one.name != "site-packages":
            (wheels.site(env).parent / one.name).symlink_to(one)


def _second_metadata(env: Path, name: str, version: str) -> None:
    """The folder that an interrupted upgrade leaves beside the real one."""
    stem = name.replace("-", "_")
    folder = wheels.site(env) / f"{stem}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (folder / "INSTALLER").write_text("pip\n")


def _elsewhere(env: Path, word: str, *words: str) -> None:
    """What came from another environment: its files copied over ours, or its folder put first by a .pth file."""
    python = interpreter(words[0]) if word == "foreign" else f"{env}/bin/python"
    folder = env.parent / f"{env.name}-elsewhere"
    wanted = words[1:] if word == "foreign" else words
    _good(call(wheels.UV, "pip", "install", "-q", "--no-deps", "--python", python, "--target", str(folder), *wanted))
    if word == "pth":
        (wheels.site(env) / "elsewhere.pth").write_text(f"import sys; sys.path.insert(0, {str(folder)!r})\n")
        return
    for name in {path.name for path in folder.iterdir()} & {path.name for path in wheels.site(env).iterdir()}:
        shutil.rmtree(wheels.site(env) / name)
    shutil.copytree(folder, wheels.site(env), dirs_exist_ok=True)
    shutil.rmtree(folder)


def _moved(env: Path, was: str) -> None:
    """The activation of an environment that was made in another folder."""
    file = env / "bin" / "activate"
    _written(file, file.read_text().replace(str(env), was))


def _of_windows(env: Path, name: str) -> None:
    """A file of the environment that was edited on Windows."""
    _written(env / name, (env / name).read_text().replace("\n", "\r\n"))


def _exports(env: Path, line: str) -> None:
    """A line at the end of the activation."""
    file = env / "bin" / "activate"
    _written(file, f"{file.read_text()}\nexport {line}\n")


def _compiled(env: Path, module: str) -> None:
    """Compiled copies that hold no code: their heads fit the sources, so that Python believes them."""
    _good(call(f"{env}/bin/python", "-m", "compileall", "-q", "-f", str(wheels.site(env) / module)))
    for file in (wheels.site(env) / module).glob("__pycache__/*.pyc"):
        head = file.read_bytes()[:16]
        file.unlink()
        file.write_bytes(head + b"no code")


def _editable(env: Path, name: str) -> None:
    """An installation from a source folder that is gone since."""
    module, folder = name.replace("-", "_"), env.parent / f"{env.name}-source"
    shutil.copytree(wheels.site(env) / module, folder / module)
    head = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    more = (
        f'[project]\nname = "{name}"\nversion = "{releases(env)[name]}"\n[tool.setuptools]\npackages = ["{module}"]\n'
    )
    (folder / "pyproject.toml").write_text(head + more)
    do(env, f"uninstall {name}")
    do(env, f"install --no-deps -e {folder}")
    shutil.rmtree(folder)


def _starts(env: Path, line: str) -> None:
    """A file that Python runs at its start, and no package brought."""
    (wheels.site(env) / "zz-helper.pth").write_text(f"{line}\n")


def _unpacked(env: Path, *wanted: str) -> Path:
    """The files of some wheels for this environment's Python, in a folder beside it."""
    folder = env.parent / f"{env.name}-other"
    command = (wheels.UV, "pip", "install", "-q", "--no-deps", "--python", f"{env}/bin/python", "--target", str(folder))
    _good(call(*command, *wanted))
    return folder


def _swap(env: Path, words: str) -> None:
    """One file of another release in the place of ours."""
    file, wanted = words.split()
    folder = _unpacked(env, wanted)
    (wheels.site(env) / file).unlink()
    shutil.copy2(folder / file, wheels.site(env) / file)
    shutil.rmtree(folder)


def _barred(env: Path, _: str) -> None:
    """A Python of the environment's own that lost its right to be run, as where it was unpacked without modes."""
    link = env / "bin" / "python"
    real = link.resolve()
    link.unlink()
    shutil.copy2(real, link)
    link.chmod(0o644)


def _graft(env: Path, words: str) -> None:
    """The libraries of a wheel copied into a folder of another one's."""
    inside, wanted = words.split()
    folder = _unpacked(env, wanted)
    for path in list(folder.glob("nvidia/*/lib/*.so*")):
        shutil.move(path, wheels.site(env) / inside / path.name)
    shutil.rmtree(folder)


def _toolkit(env: Path, words: str) -> None:
    """A CUDA toolkit or a cuDNN beside the environment, as NVIDIA lays it out: these wheels' libraries in its lib64."""
    name, version, *wanted = words.split()
    folder, root = _unpacked(env, *wanted), env.parent / f"{env.name}-{name}"
    (root / "lib64").mkdir(parents=True)
    for path in list(folder.glob("nvidia/*/lib/*.so*")):
        shutil.move(path, root / "lib64" / path.name)
    (root / "version.json").write_text(json.dumps({"cuda": {"name": "CUDA SDK", "version": version}}))
    shutil.rmtree(folder)


def _written(file: Path, text: str) -> None:
    """Written anew: what is linked to it elsewhere stays."""
    file.unlink()
    file.write_text(text)


def _prefix(env: Path, words: str) -> None:
    """A prefix of conda's in the place of the environment, made by a real installer of conda's packages."""
    home = (env / "bin" / "python").resolve().parent.parent
    script = str(Path(__file__).with_name("prefix.py"))
    run = (wheels.UV, "run", "-q", "--no-project", "--python", str(home / "bin/python3"), "--with", "py-rattler")
    _good(call(*run, script, str(home), str(env), *words.split()))


_BESIDE = {
    "prefix": _prefix,
    "moved": _moved,
    "of_windows": _of_windows,
    "exports": _exports,
    "compiled": _compiled,
    "editable": _editable,
    "starts": _starts,
    "swap": _swap,
    "barred": _barred,
    "toolkit": _toolkit,
    "graft": _graft,
}


def _damage(path: Path, how: str) -> None:
    data = b"" if how == "empty" else b"this is no library\n" * 20
    if how == "cut":
        with path.open("rb") as file:
            data = file.read(min(path.stat().st_size // 2, 30 << 20))
    if how in ("marked", "holed"):
        whole = path.read_bytes()
        data = (
            b"<<<<<<< HEAD\n" + whole if how == "marked" else whole[: 64 << 10] + bytes(512 << 10) + whole[576 << 10 :]
        )
    path.unlink()
    if how != "remove":
        path.write_bytes(data)


def broken(folder: Path, one: Break) -> Path:
    """A new environment, broken as the row says."""
    for old in folder.glob(f"env-{one.id}*"):
        shutil.rmtree(old, ignore_errors=True)
    env = linked(base(folder, one.base), folder / f"env-{one.id}")
    for step in one.steps:
        do(env, step)
    return env


def gpuwhy(*argv: str, hidden: str = "") -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON (or nothing) and standard error; with a folder of the machine `hidden` from it."""
    script = '[ ! -d "$0" ] || mount -t tmpfs none "$0" && exec "$@"'
    within = ("unshare", "-m", "sh", "-c", script, hidden) if hidden else ()
    done = call(*within, sys.executable, "-m", "gpuwhy", *argv)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        return done.returncode, {}, done.stdout + done.stderr


def problems(env: Path) -> set[str]:
    """What the installer's own consistency check says."""
    done = call(wheels.UV, "pip", "check", "--python", f"{env}/bin/python")
    lines = (done.stdout + done.stderr).splitlines()
    return {line for line in lines if line.startswith("The package")}


def releases(env: Path) -> dict[str, str]:
    """What is installed, by the metadata folders."""
    found = (p.name.removesuffix(".dist-info").rpartition("-") for p in wheels.site(env).glob("*.dist-info"))
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, _, version in found}


def state(env: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file that is no bytecode."""
    out = {}
    for path in env.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            found = path.stat()
            out[str(path.relative_to(env))] = (found.st_size, found.st_mtime_ns)
    return out


def judged(one: Break, made: Path, before: set[str]) -> list[str]:
    """What is wrong with the environment that a fix made; nothing of gpuwhy is asked."""
    out = []
    if one.works:
        done = call(f"{made}/bin/python", "-c", one.works, TF_CPP_MIN_LOG_LEVEL="3", seconds=300)
        if done.returncode:
            out.append(f"does not work: rc {done.returncode} {done.stderr.strip().splitlines()[-1:]}")
    have = releases(made)
    for text in one.has:
        want = Requirement(text)
        if want.name not in have or not want.specifier.contains(have[want.name], prereleases=True):
            out.append(f"has {want.name} {have.get(want.name)}, not {text}")
    out += [f"still has {name}" for name in one.without if name in have]
    return [*out, *(f"inconsistent: {line}" for line in sorted(problems(made) - before))]


def score(folder: Path, one: Break) -> dict[str, Any]:
    """Break, repair, judge: `ends` is verified, false (said to be good, and is not), failed, or silent."""
    start = time.monotonic()
    healthy = problems(base(folder, one.base))
    env = broken(folder, one)
    try:
        return {"id": one.id, **_scored(one, env, healthy), "seconds": round(time.monotonic() - start, 1)}
    finally:
        for left in folder.glob(f"env-{one.id}*"):
            shutil.rmtree(left, ignore_errors=True)


def _scored(one: Break, env: Path, healthy: set[str]) -> dict[str, Any]:
    more = ["--gpu", one.gpu, "--driver", one.driver] if one.as_if else []
    more += ["--take", one.take] if one.take else []
    code, found, said = gpuwhy("fix", "--deep", "--json", "--python", str(env), *more, hidden=one.hidden)
    steps = found.get("steps", [])
    named = list(dict.fromkeys(cause for step in steps for cause in step["causes"]))
    out: dict[str, Any] = {"causes": named, "right": bool(set(named) & set(one.causes))}
    before = state(env)
    perhaps = [c for step in steps if not step["sure"] for c in step["causes"] if c in one.causes]
    sure = any(step["sure"] and step["by"] == "gpuwhy" for step in steps)
    only = [] if sure else perhaps[:1]
    where = ("--in-place",) if one.in_place else ()
    applies = ("fix", *only, "--apply", "--yes", "--json", "--python", str(env), *where, *more, "--time-limit", "600")
    code, told, said = gpuwhy(*applies, hidden=one.hidden)
    out |= {"rc": code, "said": " ".join(said.split())[-300:]}
    applied = told.get("applied") or {}
    done = [step for step in told.get("steps", ()) if step["number"] in applied.get("done", ())]
    out["done"] = [[",".join(step["causes"]), step["text"]] for step in done]
    out["done"] += [["", text] for text in applied.get("then", ())]
    if applied.get("failed"):
        out["said"] = applied["failed"]
    out["bad"] = [one for one in applied.get("compared", ()) if one["verdict"] in ("worse", "left")]
    out["after"] = applied.get("after")
    if one.told:
        text = json.dumps(told) + said + json.dumps(found)
        return {**out, "ends": "verified" if one.told in text and code and state(env) == before else "failed"}
    if not steps:
        return {**out, "ends": "silent"}
    if code or not applied.get("environment"):
        kept = one.in_place or state(env) == before
        return {**out, "ends": "failed" if kept else "false", "changed": applied.get("changed", [])}
    wrong = judged(one, Path(applied["environment"]), healthy)
    if not one.in_place and state(env) != before:
        wrong.append("the original was changed")
    return {**out, "ends": "false" if wrong else "verified", "wrong": wrong, "changed": applied.get("changed", [])}


def _done(out: Path) -> set[str]:
    """The rows that were scored before; what the lab itself failed at is tried again."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return {told["id"] for line in lines if (told := json.loads(line))["ends"] != "lab"}


def main(argv: list[str]) -> None:
    """Score the table, or some rows of it, a JSON line each."""
    folder, out, *ids = argv
    Path(folder).mkdir(parents=True, exist_ok=True)
    done = _done(Path(out))
    rows = [one for one in BREAKS if one.id not in done and (not ids or one.id in ids)]
    with open(out, "a", encoding="utf-8") as file:
        for one in rows:
            try:
                told = score(Path(folder), one)
            except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
                told = {"id": one.id, "ends": "lab", "said": str(error)[-500:]}
            file.write(json.dumps(told) + "\n")
            file.flush()
            print(f"{told['ends']:9} {one.id:36} {told.get('causes')} {told.get('wrong') or ''}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
