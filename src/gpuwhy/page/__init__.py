"""The page to look at: the JSON form of an answer, drawn as one self-contained file; decides nothing."""
