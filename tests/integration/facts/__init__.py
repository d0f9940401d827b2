"""Facts over HTTP, with the real stack."""
