"""Writes the API's document from the code, and the typed part of the client from the document.

--record, or a new example, records the examples again. --release fixes the API that later versions may only add to.
"""

import sys

from tools.client import PACKAGE, sources
from tools.openapi import additive, recorded
from tools.openapi.document import SERVED, build, rendered

if __name__ == "__main__":
    if "--record" in sys.argv[1:] or not recorded.is_complete():
        recorded.record(build(with_examples=False))
    document = build()
    SERVED.write_text(rendered(document))
    for name, text in sources(document).items():
        path = PACKAGE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    if "--release" in sys.argv[1:]:
        additive.release(document)
