"""The tables of the documentation, written from the rows that the tests run: `python -m tests.faults.page`."""

import sys

from tests.faults.connections import FRAMING, SILENT
from tests.faults.jevcompat_servers import FAULTS
from tests.faults.mock_rows import rendered_mock
from tests.faults.replies import CONTENT, FORMATS, STATUSES
from tests.faults.rows import PAGE, rendered

TABLES = {
    "mock": rendered_mock(FAULTS),
    "silent": rendered(SILENT),
    "framing": rendered(FRAMING),
    "formats": rendered(FORMATS),
    "content": rendered(CONTENT),
    "statuses": rendered(STATUSES),
}


def filled(page: str) -> str:
    """Return *page* with every table between its two marks written anew."""
    for name, table in TABLES.items():
        before, opening, rest = page.partition(f"<!-- {name} -->\n")
        _, closing, after = rest.partition(f"<!-- /{name} -->")
        page = f"{before}{opening}{table}\n{closing}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} written\n")
