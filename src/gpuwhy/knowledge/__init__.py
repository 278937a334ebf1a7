"""What is known in general: authored rows, and the tables they were read from (data/). Every row names its source."""
