# ruff: noqa: E501, RUF001 - a line per language; letters that look like others are the point
"""Searching in the scripts of the world: for each language a text, queries that find it, and queries that do not."""

import unicodedata

import pytest

from neardup.index.disk.columns import encoded
from neardup.index.fulltext import FullText, Texts, TimeLimit
from neardup.text.marking import Marker
from neardup.text.search_words import query_words, search_words

LANGUAGES = {
    "English": ("The naïve café’s co\u00adop e-mail ﬁnanced ＡＢＣ", ["naive", "coop", "E-MAIL", "financed", "abc"], ["nai"]),
    "German": ("Die Straße zur Donau\u00addampfschiffahrt, Übermut", ["STRASSE", "donaudampfschiffahrt", "ubermut"], ["dampf"]),
    "French": ("L’été, à l’œuvre, garçon et maïs", ["ete", "œuvre", "oeuvre", "GARCON", "mais"], ["oeuvres"]),
    "Spanish": ("El niño comió una piña en España", ["nino", "COMIÓ", "comio", "“una pina”"], ["comi", "“pina una”"]),
    "Portuguese": ("A maçã não é do João, coração", ["maca", "nao", "joao", "CORAÇÃO"], ["coracoes"]),
    "Italian": ("La città è più bella, perché no", ["citta", "piu", "«più bella»"], ["«bella più»"]),
    "Romanian": ("Știința și țara, în București", ["stiinta", "tara", "bucuresti"], ["tarat"]),
    "Catalan": ("La col·lecció i la coŀlecció", ["col·lecció", "coŀleccio"], ["collecció"]),
    "Polish": ("Łódź i żółw, gęś w Gdańsku", ["lodz", "ŁÓDŹ", "zolw", "ges"], ["gdansk"]),
    "Czech": ("Příliš žluťoučký kůň pěl", ["prilis", "zlutoucky", "kun"], ["kunz"]),
    "Hungarian": ("Árvíztűrő tükörfúrógép", ["arvizturo", "TÜKÖRFÚRÓGÉP"], ["furo"]),
    "Turkish": ("İstanbul’da ışık ve ISPARTA", ["istanbul", "isik", "ışık", "ısparta"], ["istan"]),
    "Vietnamese": ("Tiếng Việt ở Đà Nẵng", ["tieng viet", "da nang", "ĐÀ NẴNG"], ["tie"]),
    "Icelandic": ("Þórður á Íslandi, fiskur og mjöl", ["thordur", "islandi", "Þórður"], ["þór"]),
    "Danish": ("Smørrebrød på Ærø", ["smorrebrod", "på", "AERO"], ["smør"]),
    "Greek": ("Η Αθήνα, η ΟΔΌΣ και οι ᾠδές", ["Αθηνα", "οδος", "οδοσ", "ωδες", "ΑΘΉΝΑ"], ["Αθην"]),
    "Russian": ("Ещё йод и ЁЛКА в чаще", ["еще", "ещё", "иод", "елка"], ["елк"]),
    "Ukrainian": ("Їжак і ґанок у Києві", ["іжак", "їжак", "києві"], ["ижак", "київ"]),
    "Bulgarian": ("Който чете „Под игото“ ѝ дава", ["които", "„под игото“"], ["„игото под“"]),
    "Serbian": ("Ђак и Љубав у Београду", ["ђак", "љубав", "БЕОГРАДУ"], ["београд"]),
    "Armenian": ("Երևան և Արարատ", ["երեւան", "ԵՐԵՒԱՆ", "արարատ"], ["արար"]),
    "Georgian": ("თბილისი ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ", ["თბილისი", "საქართველო"], ["თბილ"]),
    "Hebrew": ("שָׁלוֹם לָעוֹלָם, צה״ל", ["שלום", "לעולם", "צה״ל"], ["שלו", "עולם"]),
    "Arabic": ("مُحَمَّدٌ فِي المَدِينَة ١٢٣ كـتـاب أحمد", ["محمد", "المدينة", "123", "كتاب", "احمد"], ["محم"]),
    "Persian": ("می\u200cخواهم کتاب بخوانم ۴۵", ["میخواهم", "كتاب", "45"], ["خواهم"]),
    "Urdu": ("پاکستان میں اُردو", ["پاكستان", "اردو", "میں"], ["پاک"]),
    "Yiddish": ("ייִדיש איז אַ שפּראַך", ["יידיש", "שפראך"], ["שפר"]),
    "Amharic": ("ሰላም፡ለዓለም", ["ሰላም", "ለዓለም"], ["ሰላ"]),
    "Hindi": ("राम दिल्ली में ज़रूर है १२", ["राम", "दिल्ली", "जरूर", "12"], ["रोम", "रम", "दिल्ल"]),
    "Marathi": ("मी मराठी बोलतो", ["मराठी", "मी"], ["मराठ", "मा"]),
    "Bengali": ("বাংলা ভাষা ও কো\u200cটি", ["বাংলা", "কোটি", "ক\u09c7\u09beটি"], ["বাংল", "বংলা"]),
    "Gujarati": ("ગુજરાતી ભાષા", ["ગુજરાતી", "ભાષા"], ["ગુજરાત", "ભષા"]),
    "Punjabi": ("ਪੰਜਾਬੀ ਬੋਲੀ", ["ਪੰਜਾਬੀ"], ["ਪੰਜਾਬ", "ਪਜਾਬੀ"]),
    "Tamil": ("தமிழ் மொழி ௧", ["தமிழ்", "மொழி", "1"], ["தமிழ", "மழி"]),
    "Telugu": ("తెలుగు భాష", ["తెలుగు"], ["తలుగు", "తెలుగ"]),
    "Kannada": ("ಕನ್ನಡ ನಾಡು", ["ಕನ್ನಡ"], ["ಕನಡ"]),
    "Malayalam": ("മലയാളം അവന്\u200d പാൽ", ["മലയാളം", "അവൻ", "പാല്\u200d"], ["മലയള"]),
    "Sinhala": ("ශ්\u200dරී ලංකාව", ["ශ්රී", "ලංකාව"], ["ලංකා"]),
    "Thai": ("สวัสดีครับ กำลังกิน", ["สวัสดี", "ครับ", "กำลัง", "กิน"], ["กน", "กัน"]),
    "Lao": ("ສະບາຍດີ ນ້ຳ", ["ສະບາຍ", "ນ້ຳ"], ["ນຳ"]),
    "Khmer": ("ភ្នំពេញ ក្រុម", ["ភ្នំ", "ក្រុម"], ["ភនំ", "រ"]),
    "Burmese": ("မြန်မာစကား", ["မြန်မာ", "စကား"], ["မန်မာ"]),
    "Tibetan": ("བོད་ཡིག་", ["བོད", "ཡིག", "“བོད ཡིག”"], ["བད"]),
    "Mongolian": ("Монгол ᠮᠣᠩᠭᠣᠯ", ["монгол", "ᠮᠣᠩᠭᠣᠯ"], ["монг"]),
    "Chinese": ("北京大学今天開學，⼀個㍿", ["北京", "大学", "「今天開學」", "一個", "株式会社", "学"], ["京北", "上海"]),
    "Japanese": ("東京タワーのﾊﾞｽとガラス、１２３", ["東京", "バス", "ｶﾞﾗｽ", "カ\u3099ラス", "タワー", "123"], ["ハス", "カラス"]),
    "Korean": ("대한민국의 수도는 서울이다", ["대한민국", "수도", "서울", unicodedata.normalize("NFD", "서울")], ["울서", "서을"]),
    "Hawaiian": ("ʻŌlelo Hawaiʻi", ["ʻolelo", "hawaiʻi"], ["hawaii"]),
    "Yoruba": ("Èdè Yorùbá ẹ̀kọ́", ["ede yoruba", "eko"], ["yor"]),
    "Cherokee": ("ᏣᎳᎩ ꮳꮃꭹ", ["ꮳꮃꭹ", "ᏣᎳᎩ"], ["Ꮳ"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("languages") / "search.sqlite"
    words = search_words(encoded([text for text, _, _ in LANGUAGES.values()]))
    FullText.build(
        path, "", len(words), [Texts(range(len(words)), [*LANGUAGES], [""] * len(words), words, [""] * len(words))]
    )
    opened = FullText(path, "")
    yield opened
    opened.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_finds_a_text_and_what_does_not(table, language):
    _, finding, missing = LANGUAGES[language]
    own = [*LANGUAGES].index(language)
    for query in finding + missing:
        terms = query_words(query)
        assert terms, query
        assert (own in table.matching(terms, TimeLimit(60))) == (query in finding), query


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_marked_is_what_was_searched_in_whole_graphemes(language):
    text, finding, missing = LANGUAGES[language]
    for query in finding + missing:
        marker = Marker(query_words(query))
        (shown,) = marker.mark(encoded([text]), 100)
        assert shown.text == text
        if query in finding:
            assert shown.spans, query
        for begin, end in shown.spans:
            for place in (begin, end):
                assert place == len(text) or unicodedata.category(text[place])[0] != "M", query
                assert text[place : place + 1] not in {"\u0e33", "\u0eb3"}, query
        # The marked places alone fold to all that was searched.
        marked = search_words(encoded([" ".join(text[begin:end] for begin, end in shown.spans)]))[0]
        if query in finding:
            assert all(word in marked.split() for term in query_words(query) for word in term.text.split())


def test_a_table_of_forty_languages():
    assert len(LANGUAGES) >= 40
