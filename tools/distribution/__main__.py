"""Checks that statements run where tables are distributed by tenant, and writes the page of what each one reaches.

--check writes nothing, and fails when the page is not up to date.
"""

import sys

from tools.distribution.page import PAGE, rendered
from tools.distribution.report import entries, problems

if __name__ == "__main__":
    found = entries()
    if wrong := [*problems(found)]:
        sys.exit("statements that cannot be distributed by tenant:\n  " + "\n  ".join(wrong))
    page = rendered(found)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        sys.exit("docs/statements.md is not up to date: run make statements")
