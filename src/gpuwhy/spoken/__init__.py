"""What a person says in words of their own: the topic, its likely causes with the test for each, how to go on."""
