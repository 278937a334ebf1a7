"""The fault lab: real GPU machines broken on purpose, one fault at a time, and what gpuwhy names."""
