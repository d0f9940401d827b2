"""Run as a process of its own: reads a file from its input and writes the file's text to its output.

Its arguments are a MIME type and limits: the bytes of memory, and the seconds of processor time. It imports nothing of
the project, and its environment holds no secret.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys

_MOST_OPEN = 64
_NO_TEXT = 3


def main() -> int:
    mime, memory, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MOST_OPEN, _MOST_OPEN))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    # Imported below the limits.
    from xberg import ExtractInput, ExtractionConfig, extract
    from xberg.options import ConversionOptions

    config = ExtractionConfig(
        output_format="markdown",
        html_options=ConversionOptions(extract_metadata=False),
        use_cache=False,
        disable_ocr=True,
    )
    given = ExtractInput(kind="bytes", bytes=sys.stdin.buffer.read(), mime_type=mime)
    try:
        found = asyncio.run(extract(given, config))
    except Exception:
        return _NO_TEXT
    for result in found.results:
        sys.stdout.buffer.write(result.content.encode(errors="replace"))
    return 0 if found.results else _NO_TEXT


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    # The library's threads may still run, and then the interpreter crashes while it ends.
    os._exit(ended)
