"""Imported: packages that import another one at their first line of work and do not ask the installer for it."""

from __future__ import annotations

import msgspec

from gpuwhy.knowledge.tables import source

KNOW = source("METADATA and modules of the newest release of each", "imported, and no Requires-Dist; November 2026")


class Needed(msgspec.Struct, frozen=True):
    """The module that is imported, and the packages that bring it; whether a release asks for one, `asked` tells."""

    module: str
    any_of: tuple[str, ...]


_ONNX = ("onnxruntime-gpu", "onnxruntime", "onnxruntime-directml", "onnxruntime-openvino", "onnxruntime-silicon")
_MMCV = ("mmcv", "mmcv-full", "mmcv-lite", "openmim")
_PADDLE = ("paddlepaddle-gpu", "paddlepaddle")

NEEDED: dict[str, Needed] = {
    "insightface": Needed("onnxruntime", _ONNX),
    "rembg": Needed("onnxruntime", (*_ONNX, "onnxruntime-rocm")),
    "paddleocr": Needed("paddle", _PADDLE),
    "paddleseg": Needed("paddle", _PADDLE),
    "torch-geometric": Needed("torch", ("torch",)),
    **{
        name: Needed("mmcv", _MMCV)
        for name in ("mmpretrain", "mmdet", "mmsegmentation", "mmpose", "mmaction2", "mmocr", "mmdet3d", "mmagic")
    },
}
