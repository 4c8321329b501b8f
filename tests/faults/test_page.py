"""The page about faults says what the tests see."""

from tests.faults.page import TABLES, filled
from tests.faults.rows import PAGE


def test_the_page_shows_the_tables_that_are_tested() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert filled(page) == page
    for name, table in TABLES.items():
        assert f"<!-- {name} -->\n{table}\n<!-- /{name} -->" in page
