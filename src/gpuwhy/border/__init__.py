"""The border: the one way in which bytes, children's output and files pass between us and a hostile world."""
