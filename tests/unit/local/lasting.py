"""A process that does not end by itself, as a service that is ready."""

import threading

if __name__ == "__main__":
    threading.Event().wait()
