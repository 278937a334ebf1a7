"""JAX on the GPU, for framework.py."""

import importlib
import logging
import os

numbers = importlib.import_module("framework_numbers")
BUILDS = ("jax_cuda13_plugin._versions", "jax_cuda12_plugin._versions", "jaxlib.cuda._versions")
PARTS = ("forward", "input gradient", "filter gradient")


class Heard(logging.Handler):
    """What JAX logs of plugins that did not start: its own error names only the CPU."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []
        logger = logging.getLogger("jax._src.xla_bridge")
        if not logger.hasHandlers():
            logger.addHandler(
                logging.StreamHandler()
            )  # what Python would do if we were not listening
        logger.addHandler(self)

    def emit(self, record):
        """Keep the exception's words, else the message's."""
        error = record.exc_info[1] if record.exc_info else None
        self.said.append(str(error or record.getMessage()).strip()[:600])


class Probe:
    """The stages of JAX."""

    lists_gently = False  # listing the GPUs makes a client, with a context on each

    def __init__(self, talk, gentle):
        self.talk = talk
        self.gentle = gentle
        self.jax = None
        self.gpu = None

    def load(self):
        """Import; version and build. JAX would take most of the memory at its first use."""
        if "XLA_PYTHON_CLIENT_PREALLOCATE" not in os.environ:
            os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
            self.talk.note("XLA_PYTHON_CLIENT_PREALLOCATE=false is set for this test")
        jax = self.jax = self.talk.call("import jax", importlib.import_module, "jax")
        self.talk.about(jax.__version__, self.built_for())

    def built_for(self):
        """CUDA and cuDNN by the versions module of the plugin, where there is one."""
        for name in BUILDS:
            try:
                module = importlib.import_module(name)
                cuda, cudnn = module.cuda_runtime_build_version(), module.cudnn_build_version()
            except Exception:
                continue
            return ["CUDA %d.%d" % (cuda // 1000, cuda % 1000 // 10), "cuDNN %d" % cudnn]
        return []

    def devices(self):
        """The GPUs of the CUDA client; where there is none, what its start said."""
        heard = Heard()
        try:
            found = self.talk.call("jax.devices('gpu')", self.jax.devices, "gpu")
        except RuntimeError:
            why = self.start_error() or (heard.said or [""])[0]
            if why:
                self.talk.fail("start of the CUDA client", why)
            raise
        self.talk.say({"devices": [getattr(one, "device_kind", str(one)) for one in found]})
        self.gpu = found[0]

    def start_error(self):
        """What the CUDA client's start raised: newer releases keep it, and name only the CPU in
        their own error.
        """
        try:
            errors = importlib.import_module("jax._src.xla_bridge")._backend_errors
        except (ImportError, AttributeError):
            return ""
        return str(errors.get("cuda") or errors.get("gpu") or "").strip()[:600]

    def free(self):
        """What memory the client may take, and has not."""

        def ask():
            stats = self.gpu.memory_stats()
            return stats["bytes_limit"] - stats["bytes_in_use"], stats["bytes_limit"]

        self.talk.memory("memory of the client", ask)

    def put(self, array):
        """An array on the GPU."""
        return self.jax.device_put(array, self.gpu)

    def back(self, numpy, array):
        """The values of an array that the GPU made."""
        devices = (
            array.devices()
            if callable(getattr(array, "devices", None))
            else [array.device_buffer.device()]
        )
        if any(one.platform == "cpu" for one in devices):
            self.talk.fail("look where it ran", "ran on the CPU")
        return numpy.asarray(array).astype("float64")

    def matmul(self):
        """A product in float32 and float16."""
        numpy = numbers.load()
        left, right = numbers.matrices(numpy)
        product = self.jax.jit(lambda a, b: a.dot(b))
        for kind in ("float32", "float16"):
            name = "dot, " + kind
            a, b = self.put(left.astype(kind)), self.put(right.astype(kind))
            self.free()
            got = self.talk.twice(name, lambda a=a, b=b: product(a, b).block_until_ready())
            self.talk.compare(name, self.back(numpy, got), left.dot(right))

    def convolution(self):
        """A convolution forward and back in float32 and float16."""
        numpy = numbers.load()
        given = numbers.pictures(numpy)
        ways = (numbers.channels_first, numbers.filters_first, numbers.channels_first)
        wanted = numbers.convolved(numpy, *given)
        wanted = (ways[0](wanted[0]), ways[0](wanted[1]), ways[1](wanted[2]))
        both = self.jax.jit(self.both_ways)
        self.free()
        for kind in ("float32", "float16"):
            name = "lax.conv, " + kind
            moved = [self.put(way(one).astype(kind)) for way, one in zip(ways, given)]
            got = self.talk.twice(
                name, lambda moved=moved: [one.block_until_ready() for one in both(*moved)]
            )
            for what, one, other in zip(PARTS, got, wanted):
                self.talk.compare("%s, %s" % (name, what), self.back(numpy, one), other)

    def both_ways(self, pictures, filters, gradient):
        """The convolution and its two gradients."""
        conv = self.jax.lax.conv
        forward, back = self.jax.vjp(lambda x, w: conv(x, w, (1, 1), "VALID"), pictures, filters)
        return (forward,) + tuple(back(gradient))
