"""TensorFlow on the GPU, for framework.py: 1.x by sessions, 2.x by eager execution."""

import importlib
import os

numbers = importlib.import_module("framework_numbers")
PARTS = ("forward", "input gradient", "filter gradient")


class Probe:
    """The stages of TensorFlow."""

    lists_gently = False  # older releases make a context to list the GPUs

    def __init__(self, talk, gentle):
        self.talk = talk
        self.gentle = gentle
        self.tf = None
        self.way = None

    def load(self):
        """Import; version and build."""
        if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") != "0":
            self.talk.note(
                "TF_CPP_MIN_LOG_LEVEL=%s is left out here" % os.environ.pop("TF_CPP_MIN_LOG_LEVEL")
            )
        tf = self.tf = self.talk.call("import tensorflow", importlib.import_module, "tensorflow")
        self.talk.about(tf.__version__, self.built_for())
        self.way = (
            Sessions(self.talk, tf) if tf.__version__.startswith("1.") else Eager(self.talk, tf)
        )

    def built_for(self):
        """CUDA and cuDNN by its own build information, where it keeps some."""
        if not self.tf.test.is_built_with_cuda():
            return ["no CUDA"]
        try:
            info = importlib.import_module("tensorflow.python.platform.build_info")
        except ImportError:
            return ["CUDA"]
        old = {"cuda_version": "cuda_version_number", "cudnn_version": "cudnn_version_number"}
        values = getattr(info, "build_info", None) or {
            k: getattr(info, v, "") for k, v in old.items()
        }
        named = (("CUDA", values.get("cuda_version")), ("cuDNN", values.get("cudnn_version")))
        return ["%s %s" % pair for pair in named if pair[1]] or ["CUDA"]

    def devices(self):
        """The GPUs that it lists; memory is then taken as it is needed, on the first of them."""
        if not self.tf.test.is_built_with_cuda():
            self.talk.fail("tf.test.is_built_with_cuda()", "this TensorFlow is built without CUDA")
        names = self.way.devices()
        self.talk.say({"devices": names})
        if not names:
            self.talk.fail("count the GPUs", "TensorFlow lists no GPU")

    def matmul(self):
        """A product in float32 and float16."""
        numpy = numbers.load()
        left, right = numbers.matrices(numpy)
        wanted = left.dot(right)
        for kind in ("float32", "float16"):
            name = "tf.matmul, " + kind
            (got,) = self.talk.twice(
                name, lambda kind=kind: self.way.matmul(left.astype(kind), right.astype(kind))
            )
            self.talk.compare(name, got.astype("float64"), wanted)

    def convolution(self):
        """A convolution forward and back in float32 and float16."""
        numpy = numbers.load()
        given = numbers.pictures(numpy)
        wanted = numbers.convolved(numpy, *given)
        for kind in ("float32", "float16"):
            name = "tf.nn.conv2d, " + kind
            moved = [one.astype(kind) for one in given]
            got = self.talk.twice(name, lambda moved=moved: self.way.convolution(*moved))
            for what, one, other in zip(PARTS, got, wanted):
                self.talk.compare("%s, %s" % (name, what), one.astype("float64"), other)


class Eager:
    """TensorFlow 2: memory growth, soft placement off."""

    def __init__(self, talk, tf):
        self.talk = talk
        self.tf = tf

    def devices(self):
        """List, keep to the first, and let its memory grow."""
        config = self.tf.config
        seen = (
            getattr(config, "list_physical_devices", None)
            or config.experimental.list_physical_devices
        )
        gpus = self.talk.call("tf.config.list_physical_devices('GPU')", seen, "GPU")
        if gpus:
            self.talk.call("tf.config.experimental.set_visible_devices", self.first_only, gpus)
            config.set_soft_device_placement(False)
        return [self.name_of(gpu) for gpu in gpus]

    def first_only(self, gpus):
        """Only the first GPU, without taking all of its memory."""
        experimental = self.tf.config.experimental
        experimental.set_visible_devices(gpus[:1], "GPU")
        experimental.set_memory_growth(gpus[0], True)

    def name_of(self, gpu):
        """The product's name, where the release can tell it."""
        try:
            return self.tf.config.experimental.get_device_details(gpu)["device_name"]
        except Exception:
            return gpu.name

    def on_gpu(self, tensor):
        """The values of a tensor that the GPU made."""
        if "GPU" not in tensor.device:
            self.talk.fail("look where it ran", "ran on the CPU: %s" % tensor.device)
        return tensor.numpy()

    def matmul(self, left, right):
        """One product."""
        tf = self.tf
        with tf.device("/GPU:0"):
            return (self.on_gpu(tf.matmul(tf.constant(left), tf.constant(right))),)

    def convolution(self, pictures, filters, gradient):
        """One convolution and its gradients."""
        tf = self.tf
        with tf.device("/GPU:0"):
            x, w = tf.constant(pictures), tf.constant(filters)
            with tf.GradientTape() as tape:
                tape.watch([x, w])
                forward = tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID")
            back = tape.gradient(forward, [x, w], output_gradients=tf.constant(gradient))
        return [self.on_gpu(one) for one in [forward] + list(back)]


class Sessions:
    """TensorFlow 1: graphs, and a session that may not move an operation to the CPU."""

    def __init__(self, talk, tf):
        self.talk = talk
        self.tf = tf
        compat = getattr(tf, "compat", None)
        self.v1 = getattr(compat, "v1", None) or tf

    def config(self):
        """Memory as it is needed, at most a third, on the first GPU."""
        config = self.v1.ConfigProto(allow_soft_placement=False)
        config.gpu_options.allow_growth = True
        config.gpu_options.per_process_gpu_memory_fraction = 0.33
        config.gpu_options.visible_device_list = "0"
        return config

    def devices(self):
        """What a session could use: of several GPUs the first."""
        config = self.config()
        experimental = getattr(getattr(self.tf, "config", None), "experimental", None)
        if hasattr(experimental, "list_physical_devices"):  # from 1.14
            name = "tf.config.experimental.list_physical_devices('GPU')"
            if not self.talk.call(name, experimental.list_physical_devices, "GPU"):
                return []
        else:
            config.gpu_options.visible_device_list = (
                ""  # 1.x aborts where the GPU named there does not exist
            )
        module = importlib.import_module("tensorflow.python.client.device_lib")
        found = self.talk.call("device_lib.list_local_devices()", module.list_local_devices, config)
        return [one.physical_device_desc or one.name for one in found if one.device_type == "GPU"]

    def run(self, build):
        """Build a graph on the GPU and run it."""
        with self.tf.Graph().as_default():
            with self.tf.device("/GPU:0"):
                fetched = build()
            with self.v1.Session(config=self.config()) as session:
                return session.run(fetched)

    def matmul(self, left, right):
        """One product."""
        tf = self.tf
        return self.run(lambda: [tf.matmul(tf.constant(left), tf.constant(right))])

    def convolution(self, pictures, filters, gradient):
        """One convolution and its gradients."""
        tf = self.tf

        def build():
            x, w = tf.constant(pictures), tf.constant(filters)
            forward = tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID")
            return [forward] + list(
                self.v1.gradients(forward, [x, w], grad_ys=tf.constant(gradient))
            )

        return self.run(build)
