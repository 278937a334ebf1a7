"""OpenCV with windows in an image without the libraries for them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import image_programs
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import programs
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("no-libgl", "error", "OpenCV with windows in an image without libGL")

_KNOW = source("opencv_python-5.0.0.93, its libQt5Gui and libQt5Core", "need libGL.so.1 and libgthread-2.0.so.0")
_WITH = ("opencv-python", "opencv-contrib-python")
_BRINGS = re.compile(
    r"libgl(1|x|-|vnd|ew|fw|u)|libopengl|mesa|ffmpeg|libav|libopencv|python3-opencv|libgtk|qt|libqt|xvfb|xorg|x11|freeglut"
    r"|ros-|vlc|gstreamer|libgstreamer|libegl|ubuntu-desktop|xfce|blender|chromium|firefox|tigervnc|libvtk|openjdk|default-j"
)
"""Packages that are libGL, or bring it."""


def check(scope: Scope) -> Iterator[Mistake]:
    """The first package that brings such an OpenCV, in a stage that runs."""
    stage = scope.environment
    if not _is_known(scope) or not stage.runs or stage.includes_unknown or stage.conda_files:
        return
    if _is_left(scope):
        return
    pin = next((pin for pin in scope.pins if _has_windows(scope, pin) and _is_imported(scope, pin)), None)
    if pin and scope.for_gpus:
        brings = "needs" if pin.name in _WITH else "brings opencv-python, which needs"
        text = f"{pin.name} {brings} libGL.so.1, and image {scope.base.name} has none: import cv2 fails"
        fix = "apt-get install libgl1 libglib2.0-0" + (f", or write {pin.name}-headless" if pin.name in _WITH else "")
        yield RULE.mistake(pin.place, text, _KNOW, fix)


def _is_known(scope: Scope) -> bool:
    """Whether it is an image without libGL: a small one, or any of Docker's python images."""
    full = scope.kind == "dockerfile" and image_programs.is_full(scope.base) and not scope.environment.copies_programs
    return full or "git" in programs.lacking(scope)


def _has_windows(scope: Scope, pin: Pin) -> bool:
    """Whether a package is such an OpenCV, or asks for one."""
    if not pin.installed or pin.arms:
        return False
    return pin.name in _WITH or bool({*_WITH} & scope.asks(pin).keys())


def _is_imported(scope: Scope, pin: Pin) -> bool:
    """Whether a program of the repository imports cv2, or what is known to do so; without programs, who asks for it."""
    modules = ("cv2", *_IMPORTING.get(pin.name, ()))
    found = scope.repository.imports(*modules)
    return found if found is not None else pin.name in (*_WITH, *_IMPORTING)


_IMPORTING = {
    "ultralytics": ("ultralytics",), "albumentations": ("albumentations",), "easyocr": ("easyocr",),
    "supervision": ("supervision",), "mmcv": ("mmcv", "mmdet", "mmseg"), "mmengine": ("mmengine", "mmdet"),
    "imgaug": ("imgaug",), "insightface": ("insightface",), "deepface": ("deepface",), "retina-face": ("retinaface",),
    "mediapipe": ("mediapipe",), "paddleocr": ("paddleocr",),
    "controlnet-aux": ("controlnet_aux",), "yolov5": ("yolov5",), "gfpgan": ("gfpgan",), "basicsr": ("basicsr",),
    "facexlib": ("facexlib",), "realesrgan": ("realesrgan",), "segment-geospatial": ("samgeo",), "rembg": ("rembg",),
}  # fmt: skip
"""Packages whose modules import cv2 when they are imported."""


def _is_left(scope: Scope) -> bool:
    """Whether libGL or another build of cv2 is there, or commands make one, or a script that nobody has read runs."""
    apt = scope.environment.apt
    if any(map(_BRINGS.match, apt)) or any("$" in name for name in apt):
        return True
    texts = [command.text for command in scope.environment.commands]
    named = any("headless" in name or name == "opencv" for name in scope.names)
    return named or any(
        re.search(r"headless|conda|mamba|(^|/)\S+\.sh\b|dpkg|yum|dnf|opencv", t.split(" install ")[0]) for t in texts
    )
