"""The parts of your own scheme: its base class, its features, its options, and its registration."""

from neardup.model.arrays import Signatures, shares
from neardup.model.options import THRESHOLD, Option
from neardup.model.recipe import Hashing
from neardup.schemes.registry import register
from neardup.schemes.scheme import Scheme
from neardup.schemes.signing import FeatureScheme
from neardup.text.shingling import Shingling

__all__ = ["THRESHOLD", "FeatureScheme", "Hashing", "Option", "Scheme", "Shingling", "Signatures", "register", "shares"]
