"""What Python programs, notebooks and pytest use of gpuwhy."""
