"""The code that depends on uvicorn's internals."""
