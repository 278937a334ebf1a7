"""The Answer, one document tree, and the four writers: terminal, HTML, Markdown, plain."""
