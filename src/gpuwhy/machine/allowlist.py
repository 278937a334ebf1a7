"""Keep only allowlisted parts of files that people write into; the rest never goes further."""

import json
import re
from collections.abc import Callable

_CONFIG = frozenset(
    {"home", "version", "version_info", "include-system-site-packages", "implementation"}
    | {"base-prefix", "uv"}
)
_INSTALLERS = re.compile(
    r"(?:pip|uv|conda|mamba|poetry|pdm|hatch|rye|pixi|flit|setuptools|bazel|distutils|rpm)"
    r"(?:[ -][a-z0-9.]{1,12})?"
)
_FREE = re.compile(
    r"""((?:git|user|host|e?mail|author|commit|branch|machine|builder)\w{0,40}['"]?"""
    r"""\s{0,5}[:=,]\s{0,5})(['"])[^'"\n]{0,4000}\2""",
    re.IGNORECASE,
)
_BUILT_FOR = ("cuda", "cudnn", "nccl", "cutensor", "packaging")
_METADATA = re.compile(
    r"^(?:Name|Version|Requires-Dist|Requires-Python|Provides-Extra): [^\r\n]*", re.MULTILINE
)
_AT_ADDRESS = re.compile(r"^(Requires-Dist: [^@\n]*?) @ [^;\n]*", re.MULTILINE)
_WHEEL = re.compile(r"^(?:Tag|Root-Is-Purelib): [^\r\n]*", re.MULTILINE)


def kept(path: str, text: str) -> str:
    """A file's text as it may go further: of known kinds only what is looked for in them."""
    keep = _KINDS.get(path.rpartition("/")[2])
    return keep(text) if keep else text


def kept_line(path: str, line: str) -> str:
    """A line of a file as it may go further: of a requirement on an address, the name alone."""
    return _AT_ADDRESS.sub(r"\1 @ elsewhere", line) if path.endswith("METADATA") else line


def _config(text: str) -> str:
    """pyvenv.cfg without prompt and command line."""
    pairs = (line.partition("=") for line in text.splitlines())
    rows = ((name.strip(), value.strip()) for name, tie, value in pairs if tie)
    return "".join(f"{name} = {value}\n" for name, value in rows if name in _CONFIG)


def _module(text: str) -> str:
    """A generated Python module without its comments and free text."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    code = "\n".join(line.partition("#")[0].rstrip() for line in lines)
    return _FREE.sub(r"\1\2\2", code)


def _metadata(text: str) -> str:
    return _AT_ADDRESS.sub(r"\1 @ elsewhere", "\n".join(_METADATA.findall(text)))


def _direct_url(text: str) -> str:
    """Where a package was installed from: a folder of this machine, or elsewhere."""
    said = _object(text)
    url, folder = str(said.get("url", "")), said.get("dir_info")
    editable = isinstance(folder, dict) and folder.get("editable") is True
    shown = url if url.startswith("file:///") else "elsewhere"
    return json.dumps({"url": shown, "dir_info": {"editable": editable}})


def _object(text: str) -> dict[str, object]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


_KINDS: dict[str, Callable[[str], str]] = {
    "pyvenv.cfg": _config,
    "INSTALLER": lambda text: text.strip() if _INSTALLERS.fullmatch(text.strip()) else "another",
    "METADATA": _metadata,
    "PKG-INFO": _metadata,
    "WHEEL": lambda text: "\n".join(_WHEEL.findall(text)),
    "direct_url.json": _direct_url,
    "_wheel.json": lambda text: json.dumps(  # CuPy's note of what it was built for
        {key: value for key, value in _object(text).items() if key in _BUILT_FOR}
    ),
    **dict.fromkeys(
        ("version.py", "build_info.py", "build_and_package_info.py", "_pybind_state.py"), _module
    ),
}
