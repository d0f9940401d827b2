"""Write the API's document anew from the code; with --record, or where an example is new, its examples too."""

import sys

from tools.openapi import recorded
from tools.openapi.document import SERVED, build, rendered

if __name__ == "__main__":
    if "--record" in sys.argv[1:] or not recorded.is_complete():
        recorded.record(build(with_examples=False))
    SERVED.write_text(rendered(build()))
