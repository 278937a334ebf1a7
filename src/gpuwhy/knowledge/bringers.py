"""Bringers: packages whose own requirements bring ONNX Runtime without CUDA, whatever else is asked for."""

from __future__ import annotations

from gpuwhy.knowledge import asked
from gpuwhy.knowledge.guests import guests
from gpuwhy.knowledge.tables import source

ONNX_BROUGHT = source(
    "uv pip compile of each of them, November 2026", "onnxruntime is among what it asks for"
)

_ALWAYS = frozenset(
    [
        "nudenet", "chromadb", "fastembed", "kokoro-onnx", "magika", "piper-tts", "unstructured-inference",
        "retina-face", "openwakeword", "rapidocr-onnxruntime", "faster-whisper", "pipecat-ai", "livekit-plugins-silero",
        "inference", "super-gradients", "whisper-live",
    ]
)  # fmt: skip
_EXTRAS = {"optimum": "onnxruntime", "sentence-transformers": "onnx"}


def brings_onnxruntime(name: str, version: str, extras: tuple[str, ...]) -> bool:
    """Whether a release asks for onnxruntime: by its harvested metadata, else by the list; '' = the newest."""
    if _EXTRAS.get(name) in extras:
        return True
    by_table = asked.asks(name, version)
    if by_table:
        return "onnxruntime" in by_table
    found = [row for row in guests(name) if not version or row.version == version]
    if found and found[-1].asks is not None:
        return "onnxruntime" in found[-1].asks
    return name in _ALWAYS and (not found or not version)
