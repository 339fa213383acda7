"""Addresses of pages."""

from arena.site.links import ServedLinks
from arena.site.pages import PAGES


def test_every_page_has_a_name_and_an_address_of_its_own():
    assert len({page.name for page in PAGES}) == len({page.path for page in PAGES}) == len(PAGES)


def test_what_an_address_says_first_is_in_its_path():
    for page in PAGES:
        assert set(page.path_fields) <= set(page.parameters.model_fields)
        optional = set(page.parameters.model_fields) - set(page.path_fields)
        assert all(not page.parameters.model_fields[name].is_required() for name in optional)


def test_the_first_page_is_at_the_root():
    assert ServedLinks({}).page("overview") == "/"
    assert ServedLinks({}).page("overview", ".json") == "/index.json"
