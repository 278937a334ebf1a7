"""What Python programs and every other door call: text → Answer."""
