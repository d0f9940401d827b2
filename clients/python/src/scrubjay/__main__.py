"""`python -m scrubjay`, which `scrubjay` is short for."""

import sys

from scrubjay.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
