#!/bin/sh
# Make a folder with gpuwhy and its dependencies for a machine where nothing can be installed: carry.sh [FOLDER] [PYTHON-VERSION]
set -eu
folder=${1:-build/carry}
version=${2:-3.12}
rm -rf "$folder"
mkdir -p "$folder"
python3 -m pip install --quiet --target "$folder" --python-version "$version" --only-binary :all: --implementation cp --platform manylinux2014_x86_64 --platform manylinux_2_28_x86_64 \
  msgspec nvidia-ml-py packaging pyyaml resolvelib
cp -r src/gpuwhy "$folder/gpuwhy"
find "$folder" -name __pycache__ -type d -prune -exec rm -rf {} +
du -sh "$folder"
