"""The documentation as a site: the same files, staged for a generator, strict about links and lost pages."""
