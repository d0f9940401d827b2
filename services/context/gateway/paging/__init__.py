"""What of a request is sent shorter, decided so that a provider's cache keeps serving. Pure."""
