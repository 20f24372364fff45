"""Signatures in requests: the bytes of their rows, as Base64."""

from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import numpy as np

from neardup.interfaces.http.problems import INVALID, Refusal
from neardup.interfaces.http.service import Service
from neardup.model.arrays import Signatures
from neardup.model.recipe import RecipeId


def contents_of(service: Service, documents: Sequence[Any], recipe: str | None, name: str) -> list[str] | Signatures:
    """Return the texts of documents, or with a *recipe* their signatures; *name* is the word for one of them.

    A document without a signature is one without words.
    """
    signatures = signatures_of(service, documents, recipe, name)
    if signatures is not None:
        return signatures
    texts = [document.text for document in documents]
    if None in texts:
        raise Refusal(INVALID, f"{name.capitalize()} {texts.index(None)} has no text.")
    return texts


def signatures_of(service: Service, documents: Sequence[Any], recipe: str | None, name: str) -> Signatures | None:
    """Decode the signatures of documents, none where it is null; return ``None`` for a request without a *recipe*.

    Raises a refusal for a document with a signature without a recipe, and for one with a text with a recipe.
    """
    for place, document in enumerate(documents):
        if recipe is None and document.signature is not None:
            rule = "but the request has no recipe; send the recipe of the signatures, too"
            raise Refusal(INVALID, f"{name.capitalize()} {place} has a signature, {rule}.")
        if recipe is not None and document.text is not None:
            rule = f"with a recipe, each {name} must have a signature instead of a text"
            raise Refusal(INVALID, f"{name.capitalize()} {place} has a text; {rule}.")
    if recipe is None:
        return None
    like = service.index.signatures([])
    kind, shape = like.rows.dtype, like.rows.shape[1:]
    rows = np.zeros((len(documents), *shape), kind)
    present = np.array([document.signature is not None for document in documents], np.bool_)
    for place in np.flatnonzero(present).tolist():
        try:
            row = np.frombuffer(b64decode(documents[place].signature, validate=True), kind.newbyteorder("<"))
            rows[place] = row.reshape(shape)
        except ValueError:
            rule = f"must be Base64 of {rows[place].nbytes} bytes: {rows[place].size} numbers {kind}, little-endian"
            raise Refusal(INVALID, f"The signature of {name} {place} {rule}.") from None
    return Signatures(rows, present, RecipeId(recipe))
