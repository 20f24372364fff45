"""What decides the bits of a signature. Changing it requires signing again."""

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, NewType

from neardup.model.errors import require, require_whole

RecipeId = NewType("RecipeId", str)
FORMAT: Final = 1
KEY_BYTES: Final = 16
_SEED: Final = 1  # the default


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashing:
    """Where the numbers of all hash functions come from: a public seed, or a secret key.

    With a *seed* (any integer of 64 bits) anyone can compute the hashes and craft texts that collide. With a *key* (16
    secret bytes) only those who have it can. The key is never printed or stored: recipes identify it by a digest.
    """

    seed: int = _SEED
    key: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", require_whole("seed", self.seed, 0, 2**64 - 1))
        length_holds = self.key is None or (isinstance(self.key, bytes) and len(self.key) == KEY_BYTES)
        require(length_holds, "key", "(secret)", f"must be {KEY_BYTES} bytes")
        alone = self.key is None or self.seed == _SEED
        require(alone, "seed", self.seed, "cannot be used with a key: the key alone decides the hash functions")

    @property
    def keyed(self) -> bool:
        """Whether there is a secret key."""
        return self.key is not None

    def derive(self, purpose: str, size: int) -> bytes:
        """Return *size* bytes for one purpose.

        Block *i* of 64 bytes is BLAKE2b of ``"neardup:PURPOSE:SEED:i"``. If there is a key, BLAKE2b is keyed with it
        and the seed is omitted.
        """
        name = "" if self.keyed else str(self.seed)
        blocks = (
            blake2b(f"neardup:{purpose}:{name}:{block}".encode(), key=self.key or b"").digest()
            for block in range(-(-size // 64))
        )
        return b"".join(blocks)[:size]

    @property
    def identity(self) -> str:
        """The seed, or a digest that distinguishes keys without revealing them."""
        return f"key:{self.derive('identity', 8).hex()}" if self.keyed else f"seed:{self.seed}"


def recipe_id(**parts: Any) -> RecipeId:
    """Return the id of a recipe: a digest of everything that decides its bits.

    >>> recipe_id(scheme="minhash", shingle=3) == recipe_id(shingle=3, scheme="minhash")
    True
    """
    canonical = json.dumps({"format": FORMAT, **parts}, sort_keys=True, ensure_ascii=True)
    return RecipeId(blake2b(canonical.encode(), digest_size=8).hexdigest())
