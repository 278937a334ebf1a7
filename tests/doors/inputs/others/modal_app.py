import modal

image = modal.Image.debian_slim(python_version="3.13").pip_install("tensorflow==2.15.0")
app = modal.App("demo", image=image)
