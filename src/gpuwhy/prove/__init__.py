"""One thing at a time: which change makes a failing program run, by running it again."""
