"""Questions about what a session holds, made by script and answered through the API."""
