"""`python -m scrubjay`, which `scrubjay` is short for."""

import sys

from scrubjay.importing.command import main

if __name__ == "__main__":
    sys.exit(main())
