"""`gpuwhy ask`: a question about versions, cards, variables, numbers or failures."""

import argparse

from gpuwhy.cli import UsageError, output


def go(options: argparse.Namespace) -> int:
    """Read the question, answer, print."""
    from gpuwhy.api.text import answer_of
    from gpuwhy.log.read import read

    words = " ".join(options.words)
    if not words.strip():
        raise UsageError('ask what? gpuwhy ask "which CUDA does TensorFlow 2.10 need?"')
    return output.put_answer(options, answer_of(read(words), command="ask"))
