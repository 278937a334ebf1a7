"""Small uses of packages: what their users do first, on the CPU, where the import alone does not try it.

Run by the Python under diagnosis, as a part of importing.py; nothing is written, no GPU is used. Standard library only,
Python 3.5 and newer.
"""

import importlib
import importlib.machinery
import os
import sys

MOST_INNER = 4
PLAIN = ("api", "core", "main", "grpc", "http", "models")
"""How parts are called that people import first."""
ASIDE = (
    "_",
    "test",
    "doc",
    "example",
    "benchmark",
    "script",
    "tool",
    "conftest",
    "setup",
    "cli",
    "vendor",
    "thirdparty",
)


def there(module):
    """Whether a module is installed."""
    try:
        return importlib.machinery.PathFinder.find_spec(module) is not None
    except Exception:
        return False


def on_the_cpu():
    """No use takes a GPU."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    if "jax" in sys.modules:
        try:
            sys.modules["jax"].config.update("jax_platforms", "cpu")
        except AttributeError:
            pass  # before 0.3.15


def numbers(rows=24):
    """Rows of two columns, and a class for each."""
    numpy = importlib.import_module("numpy")
    return numpy.arange(2.0 * rows).reshape(rows, 2) % 7, numpy.arange(rows) % 2


def small_model():
    """Two nodes, of onnx's own make."""
    onnx = importlib.import_module("onnx")
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    inside = make.make_tensor_value_info("x", kind, [2])
    out = make.make_tensor_value_info("z", kind, [2])
    nodes = [make.make_node("Relu", ["x"], ["y"]), make.make_node("Neg", ["y"], ["z"])]
    graph = make.make_graph(nodes, "g", [inside], [out])
    return make.make_model(graph, opset_imports=[make.make_opsetid("", 11)])


def onnx_model():
    """A model is made and checked."""
    importlib.import_module("onnx").checker.check_model(small_model())


def onnxruntime_session():
    """A model as this onnx writes it, run by this onnxruntime."""
    numpy, ort = importlib.import_module("numpy"), importlib.import_module("onnxruntime")
    model, providers = small_model(), ["CPUExecutionProvider"]
    try:
        session = ort.InferenceSession(model.SerializeToString(), providers=providers)
    except Exception:
        model.ir_version -= 1  # the newest onnx is mostly one ahead of the newest onnxruntime, and exporters know it
        session = ort.InferenceSession(model.SerializeToString(), providers=providers)
    session.run(None, {"x": numpy.ones(2, "float32")})


def tensorboard_writer():
    """What a writer of TensorBoard takes from TensorFlow, or from what stands in for it; each plug-in once."""
    getattr(importlib.import_module("tensorboard.compat").tf.io.gfile, "exists")  # noqa: B009
    try:
        plugins = importlib.import_module("tensorboard.default").get_plugins()
    except ImportError:
        if there("tensorflow"):
            return  # it came with TensorFlow, which does not start it
        raise
    names = [getattr(one, "plugin_name", None) for one in plugins]
    twice = sorted({one for one in names if one and names.count(one) > 1})
    if twice:
        raise ValueError("Duplicate plugins for name " + twice[0])


def torch_writer():
    """The writer that training programs import."""
    importlib.import_module("torch.utils.tensorboard")


def torchvision_boxes():
    """An operator of its own library, and the transforms."""
    torch, ops = importlib.import_module("torch"), importlib.import_module("torchvision.ops")
    ops.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
    importlib.import_module("torchvision.transforms")


def keras_layer():
    """A layer is made and called."""
    importlib.import_module("keras").layers.Dense(1)(importlib.import_module("numpy").ones((1, 2), "float32"))


def tensorflow_layer():
    """A layer by its usual name."""
    tf = importlib.import_module("tensorflow")
    if tf.__version__[0] != "1":
        tf.keras.Sequential([tf.keras.layers.Dense(1)])(tf.ones((1, 2)))


def tensorflow_file():
    """A model goes into a file in memory and comes out of it, as programs keep them up to 2.15."""
    tf, h5py = importlib.import_module("tensorflow"), importlib.import_module("h5py")
    if [int(one) for one in tf.__version__.split(".")[:2]] > [2, 15]:
        return
    layers = [tf.keras.layers.Dense(1, input_shape=(2,))]
    with h5py.File("gpuwhy", "w", driver="core", backing_store=False) as file:
        tf.keras.models.save_model(tf.keras.Sequential(layers), file, include_optimizer=False)
        tf.keras.models.load_model(file, compile=False)


def numba_function():
    """A function is compiled for the CPU."""
    importlib.import_module("numba").njit(lambda x: x + 1)(1)
    importlib.import_module("numba.cuda")


def lightgbm_fit():
    """A classifier is fitted."""
    importlib.import_module("lightgbm").LGBMClassifier(n_estimators=1, verbose=-1, n_jobs=1).fit(*numbers())


def xgboost_fit():
    """A classifier is fitted."""
    importlib.import_module("xgboost").XGBClassifier(n_estimators=1, n_jobs=1).fit(*numbers())


def catboost_fit():
    """A classifier is fitted."""
    made = importlib.import_module("catboost").CatBoostClassifier
    made(iterations=1, allow_writing_files=False, verbose=False, thread_count=1).fit(*numbers())


def sklearn_fit():
    """A classifier is fitted."""
    importlib.import_module("sklearn.linear_model").LogisticRegression().fit(*numbers())


def transformers_classes():
    """The classes that programs begin with."""
    found = importlib.import_module("transformers")
    for name in ("AutoModel", "Trainer", "pipeline"):
        getattr(found, name, None)


def diffusers_classes():
    """The same."""
    getattr(importlib.import_module("diffusers"), "DiffusionPipeline")  # noqa: B009


def datasets_table():
    """A table in memory."""
    importlib.import_module("datasets").Dataset.from_dict({"a": [1]})


def accelerate_state():
    """What every training loop makes."""
    importlib.import_module("accelerate").Accelerator(cpu=True)


def spacy_words():
    """A pipeline without a model."""
    importlib.import_module("spacy").blank("en")("a b")


def pandas_sum():
    """A sum."""
    importlib.import_module("pandas").DataFrame({"a": [1]}).sum()


def scipy_parts():
    """Parts that are loaded when they are asked for."""
    for name in ("linalg", "sparse", "special"):
        importlib.import_module("scipy." + name)


def small_picture():
    """A picture of one point."""
    importlib.import_module("PIL.Image").new("RGB", (1, 1))


def h5py_file():
    """A file that is never written."""
    importlib.import_module("h5py").File("gpuwhy", "w", driver="core", backing_store=False).close()


def of_jax():
    """Its half for JAX."""
    importlib.import_module("tensorflow_probability.substrates.jax")


def flax_layers():
    """The layers, which the package does not import itself."""
    importlib.import_module("flax.linen")


USES = {
    "onnx": [("a model of two nodes with onnx", onnx_model, ())],
    "onnxruntime": [("running a model of onnx with onnxruntime", onnxruntime_session, ("onnx",))],
    "tensorboard": [("tensorboard's start", tensorboard_writer, ())],
    "torch": [("import torch.utils.tensorboard", torch_writer, ("tensorboard",))],
    "torchvision": [("an operator of torchvision on the CPU", torchvision_boxes, ("torch",))],
    "keras": [("a layer of keras", keras_layer, ())],
    "tensorflow": [
        ("a layer of tf.keras", tensorflow_layer, ()),
        ("a model of tf.keras kept with h5py", tensorflow_file, ("h5py",)),
    ],
    "numba": [("a function compiled by numba for the CPU", numba_function, ())],
    "lightgbm": [("a small fit with lightgbm", lightgbm_fit, ("sklearn",))],
    "xgboost": [("a small fit with xgboost", xgboost_fit, ("sklearn",))],
    "catboost": [("a small fit with catboost", catboost_fit, ())],
    "sklearn": [("a small fit with sklearn", sklearn_fit, ())],
    "transformers": [("from transformers import AutoModel, Trainer, pipeline", transformers_classes, ("torch",))],
    "diffusers": [("from diffusers import DiffusionPipeline", diffusers_classes, ("torch",))],
    "datasets": [("a table in memory with datasets", datasets_table, ())],
    "accelerate": [("accelerate.Accelerator(cpu=True)", accelerate_state, ("torch",))],
    "spacy": [("a pipeline of spacy", spacy_words, ())],
    "pandas": [("a sum with pandas", pandas_sum, ())],
    "scipy": [("import scipy.linalg, scipy.sparse, scipy.special", scipy_parts, ())],
    "PIL": [("a picture with PIL", small_picture, ())],
    "h5py": [("a file in memory with h5py", h5py_file, ())],
    "tensorflow_probability": [("import tensorflow_probability.substrates.jax", of_jax, ("jax",))],
    "flax": [("import flax.linen", flax_layers, ("jax",))],
}
"""For each module: in words, the function, what has to be installed for it."""
CALLED = {"tensorflow_core": "tensorflow"}
"""What people import, where the package has another name."""


def uses_of(module):
    """The names of what is tried with a module: "use:MODULE:WORDS"."""
    module = CALLED.get(module, module)
    found = USES.get(module, ())
    return ["use:%s:%s" % (module, words) for words, _, needs in found if all(map(there, needs))]


def used(name):
    """Do what a name says; the module."""
    _, module, words = name.split(":", 2)
    found = importlib.import_module(module)
    on_the_cpu()
    for said, function, _ in USES[module]:
        if said == words:
            function()
    return found


def inner(name):
    """Parts of a package that loads next to nothing of its own when it is imported: what people import instead."""
    found = sys.modules.get(name)
    first = str(getattr(found, "__file__", "") or "")
    loaded = [one for one in sys.modules if one.startswith(name + ".")]
    if os.path.basename(first) != "__init__.py" or name in USES or len(loaded) > MOST_INNER:
        return []
    folder = os.path.dirname(first)
    names = {module_of(folder, one) for one in os.listdir(folder)} - {""}
    names = sorted(one for one in names if not one.startswith(ASIDE) and name + "." + one not in sys.modules)
    best = sorted(names, key=lambda one: PLAIN.index(one) if one in PLAIN else len(PLAIN))
    return [name + "." + one for one in best[:MOST_INNER]]


def module_of(folder, entry):
    """The name of a package, a compiled module or one that people import first; "" for anything else."""
    ends = [one for one in (".py", *importlib.machinery.EXTENSION_SUFFIXES) if entry.endswith(one)]
    own = entry[: -len(ends[-1])] if ends else entry
    if ends == [".py"] and own not in PLAIN:
        return ""  # it may be a program
    package = not ends and os.path.exists(os.path.join(folder, entry, "__init__.py"))
    return own if (ends or package) and own.isidentifier() else ""
