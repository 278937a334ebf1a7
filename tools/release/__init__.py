"""What a release is made of, besides wheel and source: one file to run, and the measure of an install."""
