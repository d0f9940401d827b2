"""Writes the API's document from the code, and the typed part of both clients from the document.

--record, or a new example, records the examples again. --release fixes the API that later versions may only add to.
"""

import sys

from tools.client import PACKAGE, sources, typescript
from tools.openapi import additive, recorded
from tools.openapi.document import SERVED, build, rendered

if __name__ == "__main__":
    if "--record" in sys.argv[1:] or not recorded.is_complete():
        recorded.record(build(with_examples=False))
    document = build()
    SERVED.write_text(rendered(document))
    written = {PACKAGE / name: text for name, text in sources(document).items()}
    written |= {typescript.FOLDER / name: text for name, text in typescript.sources(document).items()}
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if "--release" in sys.argv[1:]:
        additive.release(document)
