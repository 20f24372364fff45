"""The charsets that web pages declare, by the names of the Encoding standard (encoding.spec.whatwg.org)."""

import codecs
from typing import Final

# The charsets of the web: Python's name for the declared one, and the one that browsers use instead.
_CHARSETS: Final = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    **{name: name for name in ("big5hkscs", "euc_jp", "gb18030", "iso2022_jp", "mac-cyrillic", "mac-roman")},
    **{name: name for name in ("koi8-r", "koi8-u", "cp866", "cp874", "cp932", "cp949")},
    **{name: name for name in (f"cp{page}" for page in range(1250, 1259))},
    **{name: name for name in (f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16))},
}
# Names of charsets in the Encoding standard that Python does not know, by what browsers use.
_LABELS: Final = {
    label: charset
    for charset, labels in {
        "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
        "big5hkscs": "cn-big5 x-x-big5",
        "cp874": "dos-874 windows-874",
        "cp932": "windows-31j x-sjis",
        "cp949": "cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601 windows-949",
        "cp1252": "iso88591 x-cp1252",
        "cp1254": "iso88599 x-cp1254",
        "euc_jp": "cseucpkdfmtjapanese x-euc-jp",
        "gb18030": "csgb2312 gb_2312 gb_2312-80 x-gbk",
        "iso8859-6": "csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i iso88596",
        "iso8859-7": "iso88597 sun_eu_greek",
        "iso8859-8": "csiso88598e csiso88598i iso-8859-8-e iso-8859-8-i iso88598 logical visual",
        "iso8859-15": "csisolatin9 iso885915",
        "koi8-r": "koi koi8 koi8_r",
        "koi8-u": "koi8-ru",
        "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
        "mac-roman": "csmacintosh mac x-mac-roman",
        **{f"iso8859-{part}": f"iso8859{part}" for part in (2, 3, 4, 5, 10, 13, 14)},
        **{f"cp{page}": f"x-cp{page}" for page in (1250, 1251, 1253, 1255, 1256, 1257, 1258)},
    }.items()
    for label in labels.split()
}
_SEVERAL_BYTES: Final = frozenset({"big5hkscs", "cp932", "cp949", "euc_jp", "gb18030", "iso2022_jp"})
SINGLE_BYTE: Final = frozenset(_CHARSETS.values()) - _SEVERAL_BYTES
"""Python's names of the charsets that have a byte for each character."""

_UTF_16: Final = {"utf-16": "utf-16-le", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}


def charset_of(declared: str, *, zeros: bool = False) -> str | None:
    """Return Python's name of a declared charset; ``None`` if the web does not have it.

    UTF-16 counts only for pages with *zeros* among their bytes, which their markup has then.
    """
    label = declared.strip().strip("\"'").lower()
    if label in _LABELS:
        return _LABELS[label]
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    return "utf-8" if name == "utf-8" else _CHARSETS.get(name) or (_UTF_16.get(name) if zeros else None)
