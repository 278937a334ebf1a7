from setuptools import setup

setup(name="demo", install_requires=["torch==2.4.0", "torchvision==0.18.0"])
