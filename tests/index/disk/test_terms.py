from msgspec import structs

from neardup import Index
from neardup.web_pages import Extraction


def test_columns_and_templates_are_those_of_the_terms():
    with Index.create(fields={"host": "string"}, texts=True) as index:
        terms = index.store.manifest.terms
        assert terms.columns == index.store.columns
    assert terms.templates is None
    pages = Extraction().identity
    assert structs.replace(terms, extraction=pages).templates is None
    assert structs.replace(terms, extraction=pages | {"templates": "1"}).templates == "1"
