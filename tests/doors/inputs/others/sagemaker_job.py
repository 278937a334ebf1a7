from sagemaker.pytorch import PyTorch

job = PyTorch(
    entry_point="train.py",
    framework_version="2.9.9",
    py_version="py310",
    instance_type="ml.g5.xlarge",
)
