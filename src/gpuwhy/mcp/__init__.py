"""The same answers for agents: the Model Context Protocol over standard input and output."""
