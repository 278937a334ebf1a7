"""Small uses of packages: what their users do first, on the CPU, where the import alone does not try it.

Run by the Python under diagnosis, as a part of importing.py; nothing is written, no GPU is used. Standard library only,
Python 3.5 and newer.
"""

import importlib
import importlib.machinery
import os
import sys


def there(module):
    """Whether a module is installed; a part is looked for by its package, which is imported then."""
    try:
        above = module.rpartition(".")[0]
        path = importlib.import_module(above).__path__ if above else None
        return importlib.machinery.PathFinder.find_spec(module, path) is not None
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
    """A model is made, checked, and its shapes are inferred."""
    onnx, model = importlib.import_module("onnx"), small_model()
    onnx.checker.check_model(model)
    importlib.import_module("onnx.shape_inference").infer_shapes(model)
    importlib.import_module("onnx.numpy_helper")


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


def fitted(keras):
    """A model of one layer, and one step of its training."""
    ones = importlib.import_module("numpy").ones
    model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    model.fit(ones((1, 2), "float32"), ones((1, 1), "float32"), verbose=0)


def keras_layer():
    """A layer is made and trained."""
    fitted(importlib.import_module("keras"))


def tf_keras_layer():
    """The same of Keras 2."""
    fitted(importlib.import_module("tf_keras"))


def tensorflow_layer():
    """Layers by their usual names, a branch in a compiled function, and the estimators as long as there were some."""
    tf = importlib.import_module("tensorflow")
    if tf.__version__[0] != "1":
        fitted(tf.keras)
        tf.function(larger)(tf.constant(1.0))
    release = tuple(map(int, tf.__version__.split(".")[:2]))
    if (2, 0) <= release < (2, 5):
        tf.keras.layers.LSTM(1)(tf.keras.Input((2, 1)))  # hands NumPy a shape that is not known yet
    if release < (2, 16) and there("tensorflow_estimator"):
        getattr(tf.estimator, "RunConfig")  # noqa: B009


def larger(x):
    """What AutoGraph has to read, and to write anew."""
    if x > 0:
        x = x + 1
    return x


def jax_gradient():
    """A function is compiled, and its gradient."""
    jax = importlib.import_module("jax")
    jax.jit(jax.grad(lambda x: (x * x).sum()))(jax.random.normal(jax.random.PRNGKey(0), (2,)))


def optax_step():
    """One step of an optimizer."""
    optax, ones = importlib.import_module("optax"), importlib.import_module("jax.numpy").ones(2)
    made = optax.adam(0.1)
    made.update(ones, made.init(ones), ones)


ON_TORCH = ("transformers", "lightning", "pytorch_lightning", "accelerate", "diffusers")
"""What loads the same parts of PyTorch, and is tried itself."""


def torch_step():
    """One step of a training, with an optimizer."""
    if any(map(there, ON_TORCH)):
        return
    torch = importlib.import_module("torch")
    weight = torch.ones(2, requires_grad=True)
    made = torch.optim.SGD([weight], lr=0.1)
    weight.sum().backward()
    made.step()


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


def numba_threads():
    """The threads of parallel functions, as the settings want them."""
    launch = getattr(importlib.import_module("numba.np.ufunc.parallel"), "_launch_threads", None)
    if launch is not None:
        launch()


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


def transformers_model():
    """A model of one small layer."""
    found, torch = importlib.import_module("transformers"), importlib.import_module("torch")
    sizes = {"vocab_size": 4, "hidden_size": 4, "intermediate_size": 4, "max_position_embeddings": 4}
    made = found.BertModel(found.BertConfig(num_hidden_layers=1, num_attention_heads=1, **sizes))
    made(torch.zeros((1, 2), dtype=torch.long))


def transformers_training():
    """What every Trainer is given; it needs accelerate, which only an extra of transformers brings."""
    arguments = importlib.import_module("transformers").TrainingArguments
    if not there("accelerate"):
        raise ImportError("No module named 'accelerate'", name="accelerate")
    arguments(output_dir=os.path.join(os.sep, "nonexistent"), report_to=[])


def lightning_trainer():
    """A trainer that keeps nothing."""
    settings = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    importlib.import_module("lightning").Trainer(**settings)


def diffusers_classes():
    """The same."""
    for name in ("DiffusionPipeline", "DDPMScheduler", "UNet2DModel"):
        getattr(importlib.import_module("diffusers"), name)


def datasets_table():
    """A table in memory."""
    importlib.import_module("datasets").Dataset.from_dict({"a": [1]})[0]


def accelerate_state():
    """What every training loop makes."""
    importlib.import_module("accelerate").Accelerator(cpu=True)


def spacy_words():
    """A pipeline without a model."""
    importlib.import_module("spacy").blank("en")("a b")


def pandas_sum():
    """A sum."""
    importlib.import_module("pandas").DataFrame({"a": [1]}).groupby("a").size().to_numpy()


def scipy_parts():
    """Parts that are loaded when they are asked for."""
    for name in ("linalg", "sparse", "special"):
        importlib.import_module("scipy." + name)


def small_picture():
    """A picture of one point."""
    importlib.import_module("PIL.Image").new("RGB", (1, 1)).resize((2, 2)).tobytes("raw")


def opencv_picture():
    """The same with OpenCV."""
    importlib.import_module("cv2").resize(importlib.import_module("numpy").ones((2, 2, 3), "uint8"), (1, 1))


def tokenizers_model():
    """A tokenizer without words."""
    found = importlib.import_module("tokenizers")
    found.Tokenizer(found.models.BPE())


def safetensors_bytes():
    """An array as bytes and back."""
    found = importlib.import_module("safetensors.numpy")
    found.load(found.save({"a": importlib.import_module("numpy").ones(1)}))


def h5py_file():
    """A file that is never written."""
    importlib.import_module("h5py").File("gpuwhy", "w", driver="core", backing_store=False).close()


def tensorflow_distribution():
    """What its users make first; the package itself is loaded by it."""
    importlib.import_module("tensorflow_probability").distributions.Normal(0.0, 1.0).log_prob(0.5)


def of_jax():
    """Its half for JAX."""
    importlib.import_module("tensorflow_probability.substrates.jax")


def flax_layers():
    """The layers, which the package does not import itself."""
    importlib.import_module("flax.linen")
    importlib.import_module("flax.training.train_state")


USES = {
    "onnx": [("a model of two nodes with onnx", onnx_model, ())],
    "onnxruntime": [("running a model of onnx with onnxruntime", onnxruntime_session, ("onnx",))],
    "tensorboard": [("tensorboard's start", tensorboard_writer, ())],
    "torch": [
        ("import torch.utils.tensorboard", torch_writer, ("tensorboard",)),
        ("a step of torch.optim", torch_step, ()),
    ],
    "torchvision": [("an operator of torchvision on the CPU", torchvision_boxes, ("torch",))],
    "keras": [("a layer of keras", keras_layer, ())],
    "tf_keras": [("a layer of tf_keras", tf_keras_layer, ("tensorflow",))],
    "jax": [("a gradient with jax on the CPU", jax_gradient, ())],
    "optax": [("a step of optax", optax_step, ("jax",))],
    "lightning": [("a Trainer of lightning", lightning_trainer, ("torch",))],
    "cv2": [("a picture with cv2", opencv_picture, ("numpy",))],
    "tokenizers": [("a tokenizer", tokenizers_model, ())],
    "safetensors": [("an array with safetensors", safetensors_bytes, ("numpy",))],
    "tensorflow": [
        ("a layer of tf.keras", tensorflow_layer, ()),
        ("a model of tf.keras kept with h5py", tensorflow_file, ("h5py",)),
    ],
    "numba": [
        ("a function compiled by numba for the CPU", numba_function, ()),
        ("threads of numba", numba_threads, ("numba.np.ufunc.parallel",)),
    ],
    "lightgbm": [("a small fit with lightgbm", lightgbm_fit, ("sklearn",))],
    "xgboost": [("a small fit with xgboost", xgboost_fit, ("sklearn",))],
    "catboost": [("a small fit with catboost", catboost_fit, ())],
    "sklearn": [("a small fit with sklearn", sklearn_fit, ())],
    "transformers": [
        ("from transformers import AutoModel, Trainer, pipeline", transformers_classes, ("torch",)),
        ("a small model of transformers", transformers_model, ("torch",)),
        ("training with transformers' Trainer", transformers_training, ("torch",)),
    ],
    "diffusers": [("from diffusers import DiffusionPipeline", diffusers_classes, ("torch",))],
    "datasets": [("a table in memory with datasets", datasets_table, ())],
    "accelerate": [("accelerate.Accelerator(cpu=True)", accelerate_state, ("torch",))],
    "spacy": [("a pipeline of spacy", spacy_words, ())],
    "pandas": [("a sum with pandas", pandas_sum, ())],
    "scipy": [("import scipy.linalg, scipy.sparse, scipy.special", scipy_parts, ())],
    "PIL": [("a picture with PIL", small_picture, ())],
    "h5py": [("a file in memory with h5py", h5py_file, ())],
    "tensorflow_probability": [
        ("import tensorflow_probability.substrates.jax", of_jax, ("jax",)),
        ("a distribution of tensorflow_probability", tensorflow_distribution, ("tensorflow",)),
    ],
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
