"""What an exception says by its type, its words and its place, taken together."""

import pytest

from gpuwhy.symptoms.reader import read_text

SITE = "/opt/venv/lib/python3.12/site-packages"


def traceback(*frames: tuple[str, str, str], last: str) -> str:
    lines = [f'  File "{file}", line 7, in {function}\n    {code}' for file, function, code in frames]
    return "\n".join(["Traceback (most recent call last):", *lines, last])


def signatures(text: str) -> set[str]:
    return {one.signature for one in read_text(text).symptoms if one.role == "error"}


MAIN = ("/home/me/train.py", "<module>", "import torch")


@pytest.mark.parametrize(
    ("frames", "last", "expected"),
    [
        (
            [MAIN, (f"{SITE}/torch/utils/data/_utils/worker.py", "<module>", "import queue")],
            "ImportError: cannot import name 'Empty' from 'queue' (/home/me/queue.py)",
            "shadow.from_file",
        ),
        (
            [MAIN, ("/usr/lib/python3.12/uuid.py", "<module>", "_x = platform.system()")],
            "AttributeError: module 'platform' has no attribute 'system'",
            "shadow.attribute",
        ),
        (
            [("/home/me/train.py", "<module>", "cupy.fft.fft(x)")],
            "AttributeError: module 'cupy' has no attribute 'fft'",
            "shadow.hollow",
        ),
        (
            [MAIN, ("cupy/cuda/memory.pyx", "cupy.cuda.memory._parse_limit_string", "")],
            "ValueError: invalid literal for int() with base 10: 'abc'",
            "setting.unread",
        ),
        (
            [MAIN, (f"{SITE}/cupy/cuda/_compiler_cache.py", "__init__", "os.makedirs(self._cache_dir, exist_ok=True)")],
            "FileExistsError: [Errno 17] File exists: '/data/cache'",
            "limit.cache",
        ),
        (
            [
                MAIN,
                (f"{SITE}/triton/runtime/build.py", "_build", "subprocess.check_call(cc_cmd)"),
                ("/usr/lib/python3.12/subprocess.py", "_execute_child", "raise child_exception_type(...)"),
            ],
            "FileNotFoundError: [Errno 2] No such file or directory: '/opt/none/gcc'",
            "triton.compiler",
        ),
    ],
)
def test_structure_speaks(frames, last, expected):
    assert expected in signatures(traceback(*frames, last=last))


@pytest.mark.parametrize(
    ("frames", "last"),
    [
        ([MAIN], "AttributeError: module 'collections' has no attribute 'Mapping'"),  # gone from Python: no shadow
        ([MAIN], "AttributeError: module 'numba' has no attribute 'cuda'"),  # needs its own import
        ([MAIN], "ImportError: cannot import name 'helper' from 'tools' (/home/me/tools.py)"),
        ([("/home/me/train.py", "limit", "n = int(limit)")], "ValueError: invalid literal for int() with base 10: 'x'"),
        ([MAIN], "FileNotFoundError: [Errno 2] No such file or directory: 'data/cache/train.csv'"),
    ],
)
def test_the_users_own_mistakes_are_not_taken_for_it(frames, last):
    found = signatures(traceback(*frames, last=last))
    assert not {one for one in found if one.startswith(("shadow.", "setting.", "limit."))}


def test_a_plugins_logged_reason_explains_the_fallback():
    logged = traceback(
        (f"{SITE}/jax/_src/xla_bridge.py", "discover_pjrt_plugins", "plugin_module.initialize()"),
        (f"{SITE}/jax_plugins/xla_cuda13/__init__.py", "initialize", "options = generate()"),
        (f"{SITE}/jaxlib/xla_client.py", "generate", "options['memory_fraction'] = float(memory_fraction)"),
        last="ValueError: could not convert string to float: 'half'",
    )
    text = (
        "Jax plugin configuration error: Exception when calling jax_plugins.xla_cuda13.initialize()\n"
        f"{logged}\nAn NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. "
        "Falling back to cpu.\n"
    )
    found = {one.signature: one for one in read_text(text).symptoms}
    assert found["jax.cpu_build"].follows == found["setting.unread"].order


@pytest.mark.parametrize(
    ("frames", "part", "wanted"),
    [
        ([MAIN, ("/home/me/old/jax/__init__.py", "<module>", "from jax._src import x")], "jax._src", "shadow.in_part"),
        ([MAIN, ("/home/me/jax.zip/jax/__init__.py", "<module>", "")], "jax._src", "shadow.in_part"),
        ([MAIN, (f"{SITE}/jax/_src/lib/__init__.py", "<module>", "")], "jaxlib.guard", "packages.in_part"),
        ([MAIN, (f"{SITE}/torch/__init__.py", "<module>", "")], "torch._C", "packages.in_part"),
        ([MAIN], "tensorflow.contrib", "packages.partial"),
    ],
)
def test_a_package_that_is_there_in_part(frames, part, wanted):
    assert wanted in signatures(traceback(*frames, last=f"ModuleNotFoundError: No module named '{part}'"))


def of_timm(function: str, code: str) -> list[tuple[str, str, str]]:
    return [MAIN, (f"{SITE}/timm/__init__.py", "<module>", "from . import a"), (f"{SITE}/timm/a.py", function, code)]


@pytest.mark.parametrize(
    ("frames", "last", "is_pair"),
    [
        (of_timm("<module>", "from torch._six import x"), "ModuleNotFoundError: No module named 'torch._six'", True),
        (of_timm("<module>", "jax.core.Shape"), "AttributeError: module 'jax.core' has no attribute 'Shape'", True),
        (of_timm("load", "getattr(torch, n)"), "AttributeError: module 'torch' has no attribute 'bfloat1'", False),
        ([MAIN], "AttributeError: module 'torch' has no attribute 'foo'", False),
        (of_timm("<module>", "import timm.b"), "ModuleNotFoundError: No module named 'timm.b'", False),
    ],
)
def test_a_framework_lacks_what_an_installed_package_takes_from_it(
    frames: list[tuple[str, str, str]], last: str, is_pair: bool
) -> None:
    assert ("pairs.between" in signatures(traceback(*frames, last=last))) == is_pair
