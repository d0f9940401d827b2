"""What leans on uvicorn's internals."""
