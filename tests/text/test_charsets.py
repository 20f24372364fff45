import codecs

import pytest

from neardup.text.charsets import SINGLE_BYTE, charset_of
from neardup.text.html import decoded

NAMES = """
utf-8 utf8 unicode-1-1-utf-8 866 cp866 csibm866 latin2 iso88592 l3 latin4 cyrillic iso88595 arabic iso-8859-6-i greek
sun_eu_greek hebrew iso-8859-8-i logical visual latin6 iso-8859-13 iso-8859-14 l9 csisolatin9 iso-8859-16 koi koi8-ru
mac x-mac-roman windows-874 dos-874 tis-620 cp1250 x-cp1250 x-cp1251 iso-8859-1 us-ascii x-cp1252 x-cp1253 latin5
x-cp1254 x-cp1255 x-cp1256 x-cp1257 x-cp1258 chinese gb2312 gb_2312-80 x-gbk gb18030 big5 big5-hkscs cn-big5 x-x-big5
euc-jp x-euc-jp iso-2022-jp ms_kanji shift-jis sjis windows-31j x-sjis euc-kr korean ks_c_5601-1987 ks_c_5601-1989
windows-949
"""
# What browsers use instead of the charset with the standard's name.
BROADER = {
    "shift_jis": "cp932",
    "iso8859-11": "cp874",
    "big5": "big5hkscs",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}


def test_the_names_of_the_standard_are_known():
    encoding = pytest.importorskip("resiliparse.parse.encoding")
    for label in NAMES.split():
        name = codecs.lookup(encoding.map_encoding_to_html5(label)).name
        assert charset_of(label) == BROADER.get(name, name)
    assert charset_of("x-mac-cyrillic") == "mac-cyrillic"


def test_other_names_are_unknown():
    for label in ("utf-7", "hz-gb-2312", "rot13", "idna", "x-user-defined", "no-such-charset", "\0", ""):
        assert charset_of(label, zeros=True) is None
    assert charset_of(" 'X-SJIS' ") == "cp932"


def test_utf_16_counts_for_pages_with_zeros():
    assert charset_of("utf-16le") is None
    assert charset_of("utf-16le", zeros=True) == charset_of("utf-16", zeros=True) == "utf-16-le"
    assert charset_of("UTF-16BE", zeros=True) == "utf-16-be"


@pytest.mark.parametrize("charset", sorted(SINGLE_BYTE))
def test_single_bytes_are_decoded_as_by_python(charset):
    page = bytes(range(256)) * 3
    assert decoded(page, charset) == page.decode(charset, "replace")
    assert len(page.decode(charset, "replace")) == len(page)
