"""The public names: each where it says, all of them, and nothing loaded before it is used."""

import subprocess
import sys

import pytest

import decide


def test_every_public_name_is_found_and_listed_once() -> None:
    assert sorted(set(decide.__all__)) == sorted(decide.__all__)
    assert {name: getattr(decide, name) is not None for name in decide.__all__} == dict.fromkeys(decide.__all__, True)
    assert set(decide.__all__) <= set(dir(decide))


def test_each_name_has_exactly_one_home() -> None:
    homes = [name for names in decide._HOMES.values() for name in names.split()]
    assert sorted(homes) == sorted(decide.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'chian'"):
        decide.chian  # noqa: B018 - reading it is the test


def test_importing_the_package_loads_no_module_of_it() -> None:
    loaded = "import decide, sys; print([name for name in sys.modules if name.startswith('decide.')])"
    found = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
