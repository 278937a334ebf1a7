"""An AMD card gets advice for AMD's stack, on the system that the log shows."""

import pytest

from gpuwhy.api.text import explain

LINE = (
    'time=2025-01-02T10:00:00.000Z level=WARN source={source}.go:138 msg="amdgpu is not supported'
    ' (supported types:[gfx1030 gfx1100])" gpu_type={gpu} gpu=0 library={folder}\n'
)


@pytest.mark.parametrize(
    ("source", "gpu", "folder", "says"),
    [
        ("amd_linux", "gfx1036", "/usr/lib/ollama", "HSA_OVERRIDE_GFX_VERSION=10.3.0"),
        ("amd_linux", "gfx1150", "/usr/lib/ollama", "HSA_OVERRIDE_GFX_VERSION=11.0.0"),
        ("amd_linux", "gfx906", "/usr/lib/ollama", "Vulkan"),
        ("amd_windows", "gfx1036", r"C:\Ollama\rocm", "ROCm build"),
    ],
)
def test_ollama_beside_an_amd_card(source, gpu, folder, says):
    first = explain(LINE.format(source=source, gpu=gpu, folder=folder)).causes[0]
    assert first.id == "framework.gpu_unsupported"
    said = f"{first.fixes[0].text}\n{first.fixes[0].command}"
    assert says in said
    whole = "\n".join(f"{fix.text}\n{fix.command}\n{fix.worked_if}" for fix in first.fixes)
    assert not any(word in whole for word in ("nvidia", "compute capability", "library=cuda"))
    assert source == "amd_linux" or "systemctl" not in whole
