"""Which environment variables each release of the GPU stack reads, from the published wheels themselves."""
