"""Rich: an answer that shows itself in a notebook."""

from __future__ import annotations


class Rich:
    """What Jupyter calls where an answer is the last line of a cell."""

    def _repr_html_(self) -> str:
        """The same page as everywhere, in short and without a script."""
        from gpuwhy.showing import part

        return part(self)
