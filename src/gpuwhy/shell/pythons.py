"""Pythons: the python.exe that a text from Windows is about, where plain `pip` would most likely be another one's."""

from __future__ import annotations

import re

from gpuwhy.model.symptom import Reading

_FOLDERS = r"[A-Za-z]:\\(?:[^\n\\\"'<>|*?:]+\\)*"
_VENV = re.compile(rf"({_FOLDERS}(?<!\\envs\\)(?:\.?v?env|[\w.-]{{0,24}}v?env\d*))\\(?:lib|Scripts)\\", re.IGNORECASE)
_CONDA = re.compile(r"\\installer_files\\env$", re.IGNORECASE)
_OWN = re.compile(
    rf"({_FOLDERS}(?:python_embedd?ed|python_dist|python|runtime|py3\d+))\\(?:lib\\|python\.exe)", re.IGNORECASE
)
_EXE = re.compile(rf"({_FOLDERS}python\.exe)\b", re.IGNORECASE)
_BELOW = re.compile(r"^((?:[\w.-]+\\){1,4}\.?v?env)\\lib\\site-packages\\", re.MULTILINE | re.IGNORECASE)
"""A virtual environment as seen from the folder of the program that prints it."""
_PACKED = re.compile(rf"({_FOLDERS})webui\\(?:launch\.py|modules\\)", re.IGNORECASE)
_MADE = re.compile(r"^venv \"|\\venv\\", re.MULTILINE | re.IGNORECASE)
"""What the web UI prints, and where it lies, when it has made an environment: unpacked with its Python it has none."""
_STORE = re.compile(r"\\WindowsApps\\", re.IGNORECASE)
_PORTABLE = re.compile(
    r"--windows-standalone-build|comfyui[^\n]{0,20}portable|\.\\python_embedd?ed\\|embedded python\W+true",
    re.IGNORECASE,
)
_AT = re.compile(rf"^({_FOLDERS}[^\n\\\"'<>|*?:]*)>(?=\.\\python_embedd?ed\\)", re.MULTILINE | re.IGNORECASE)
_TYPED = re.compile(
    rf"^({_FOLDERS}[^\n\\\"'<>|*?:]*)>(?:\.\\)?((?:[\w.-]+\\)+python\.exe)\b", re.MULTILINE | re.IGNORECASE
)
"""A Python below the folder of the prompt."""
_WEBUI = re.compile(r"webui-user\.bat|stable-diffusion-webui|sd-webui|--skip-torch-cuda-test", re.IGNORECASE)
_OTHERS = re.compile(r"\bconda\b|[\\/]envs[\\/]|installer_files|system\\python", re.IGNORECASE)


def python_told(reading: Reading) -> str:
    """The python.exe of the environment that a text names; as seen from its folder where no path is told; or ""."""
    text = "\n".join((*(one.text for one in reading.symptoms), reading.excerpt)).replace("\\\\", "\\")
    return _by_path(text) or _by_words(text)


def _by_path(text: str) -> str:
    if own := _OWN.search(text):
        return f"{own[1]}\\python.exe"
    if venv := _VENV.search(text):
        below = "python.exe" if _CONDA.search(venv[1]) else "Scripts\\python.exe"
        return f"{venv[1]}\\{below}"
    named = (found[1] for found in _EXE.finditer(text) if not _STORE.search(found[1]))
    at = _TYPED.search(text)
    return next(named, "") or (f"{at[1].rstrip(chr(92))}\\{at[2]}" if at else "")


def _by_words(text: str) -> str:
    """A program that is unpacked with its Python, or that makes its own: by its name alone."""
    if _PORTABLE.search(text):
        at = _AT.search(text)
        return f"{at[1]}\\python_embeded\\python.exe" if at else ".\\python_embeded\\python.exe"
    if below := _BELOW.search(text):
        return f".\\{below[1]}\\Scripts\\python.exe"
    if (packed := _PACKED.search(text)) and not _MADE.search(text):
        return f"{packed[1]}system\\python\\python.exe"
    if _WEBUI.search(text) and not _OTHERS.search(text):
        return ".\\venv\\Scripts\\python.exe"
    return ""
