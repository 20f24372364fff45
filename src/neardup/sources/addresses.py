"""The normal form of URLs: URLs with the same normal form are the address of the same document."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from ipaddress import AddressValueError, IPv6Address
from string import ascii_letters, digits, hexdigits
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from neardup.model.errors import require
from neardup.sources.url_rules import HostRules, UrlRules

TRACKING: Final = (
    # the campaign, for web statistics
    *("utm_*", "mtm_*", "piwik_*", "pk_campaign", "pk_cid", "pk_content", "pk_keyword", "pk_kwd", "pk_medium"),
    *("pk_source", "at_campaign", "at_custom*", "at_medium", "_openstat", "_ga", "_gl", "guccounter"),
    *("guce_referrer", "guce_referrer_sig"),
    # the click: Google, Microsoft, Yandex, Facebook, Instagram, X, TikTok, LinkedIn, Pinterest, Adobe, Marin
    *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_campaignid", "gad_source", "srsltid", "msclkid", "yclid"),
    *("ymclid", "ysclid", "fbclid", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "igsh", "igshid"),
    *("twclid", "ttclid", "li_fat_id", "epik", "ef_id", "s_kwcid", "mkwid", "rb_clickid", "wickedid"),
    # the recipient of a letter: Mailchimp, HubSpot, Marketo, Klaviyo, dotdigital, Listrak, MailerLite, Vero, Olytics
    *("mc_cid", "mc_eid", "__hsfp", "__hssc", "__hstc", "_hsenc", "_hsmi", "hsa_*", "hsctatracking", "mkt_tok"),
    *("_ke", "dm_i", "trk_contact", "trk_module", "trk_msg", "trk_sid", "bsft_*", "ml_subscriber"),
    *("ml_subscriber_hash", "vero_conv", "vero_id", "oly_anon_id", "oly_enc_id"),
    # the visit, for visitors without cookies: PHP, Java, ASP, ColdFusion, and three shops
    *("phpsessid", "jsessionid", "aspsessionid*", "asp.net_sessionid", "cfid", "cftoken", "oscsid", "xtcsid", "zenid"),
)
SESSIONS: Final = ("s", "sess", "sessid", "session", "session_id", "sessionid", "sid")

_FORM: Final = 2  # increased if the same choices have other normal forms
MOST_ID_BYTES: Final = 1024  # of an id in an index
_DIGEST_BYTES: Final = 16
_CUT: Final = re.compile("#[0-9a-f]{32}")
_MARKED: Final = 1 + 2 * _DIGEST_BYTES

_AROUND: Final = "".join(map(chr, range(33)))  # control characters and the space, which browsers strip
_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
_DEFAULT_PORT: Final = {"ftp": "21", "http": "80", "https": "443"}
_WEB: Final = ("http", "https")
_PORT: Final = re.compile("[0-9]{0,5}")  # without leading zeros
_LAST_PORT: Final = 65535
_IPV6_LENGTH: Final = 45  # characters of the longest spelling, which ends with an IPv4 address
_NAME_LENGTH: Final = 253  # characters of the longest host name
_HOST_LENGTH: Final = 12 * _NAME_LENGTH  # its longest spelling: four bytes per character, each percent-encoded
_SESSION_LENGTH: Final = 26  # characters of the shortest session id of PHP by default
_DIGITS: Final = 4  # different digits of one that looks random
_UUID: Final = re.compile(
    "(?i:(?P<brace>%7B)?[0-9a-f]{8}(-[0-9a-f]{4}){2}(-[0-9a-f]{4}-[0-9a-f]{12}|-[0-9a-f]{16})(?(brace)%7D))"
)
# A segment of a path with the session of ASP.NET, for browsers without cookies; or with a visitor or login alone.
_VISIT: Final = re.compile(
    r"\((X\(1\))?(([AF]\([\w-]+\))*S\([a-z0-5]{24}\)([AF]\([\w-]+\))*|([AF]\([\w-]{26,}\))+)\)", re.ASCII
)
_LOWERED_VISIT: Final = re.compile(_VISIT.pattern, re.ASCII | re.IGNORECASE)
_ESCAPED: Final = re.compile("(amp;)*")  # begins a name if a link was escaped as HTML twice, or not unescaped
_DOTS: Final = ".\u3002\uff0e\uff61"  # the full stops that end a label of an international name
# IDNA 2003, in the standard library, replaces ß, ς and the two joiners; today these name other hosts.
_DEVIATIONS: Final = frozenset("ß\u03c2\u200c\u200d")

_UNRESERVED: Final = ascii_letters + digits + "-._~"
_SUB_DELIMS: Final = "!$&'()*+,;="


class _Alphabet:
    """The characters that a part of a URL may contain unencoded; all others are written as ``%XX``, byte by byte."""

    def __init__(self, legal: str) -> None:
        self.foreign = re.compile(f"[^{re.escape(legal)}%]+")

    def spelled(self, text: str) -> str:
        """Encode illegal characters, decode unreserved ones, and write hex digits in upper case.

        A ``%`` that is not followed by two hex digits is illegal, too. A lone surrogate is encoded as its three bytes.
        """
        if "%" in text:
            first, *rest = text.split("%")
            text = first + "".join([_TRIPLETS.get(piece[:2], "%25" + piece[:2]) + piece[2:] for piece in rest])
        return self.foreign.sub(lambda run: "%" + run[0].encode("utf-8", "surrogatepass").hex("%").upper(), text)


_TRIPLETS: Final = {
    high + low: chr(byte) if chr(byte := int(high + low, 16)) in _UNRESERVED else f"%{byte:02X}"
    for high in hexdigits
    for low in hexdigits
}
_NAME: Final = _Alphabet(_UNRESERVED + _SUB_DELIMS)
_USER: Final = _Alphabet(_UNRESERVED + _SUB_DELIMS + ":")
_PATH: Final = _Alphabet(_UNRESERVED + _SUB_DELIMS + ":@/")
_QUERY: Final = _Alphabet(_UNRESERVED + _SUB_DELIMS + ":@/?")  # and a fragment
_RULED: Final = (("parameters", _QUERY, "&="), ("path_parameters", _PATH, "/;="), ("index_pages", _PATH, "/"))


class _Parts(NamedTuple):
    scheme: str
    authority: str
    path: str
    query: str
    fragment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """The differences between URLs that do not change the address of a document.

    It is a policy, but pages that were recorded under one policy are not found under another, because their ids are in
    the old form.

    ``ignore_scheme``
        http and https are the same, both written ``https``, without port 80 or 443. Off: they differ.
    ``ignore_userinfo``
        ``user:password@`` is removed. On by default: it rarely chooses the document, and no index should store
        passwords.
    ``ignore_fragment``
        ``#...`` is removed. On by default: it is a place in a document, and no server sees it.
    ``ignore_order``
        parameters are sorted by name; parameters of the same name stay in order. On by default: servers look
        parameters up by name, and crawlers commonly sort them.
    ``tracking``
        names of parameters that are removed with any value, from the query and, as ``;name=value``, from the path;
        also as ``%3Bname=value`` from a segment without a semicolon. By default those that only identify the origin,
        the click, the letter or the visit of a visitor, and none that is known to choose the content (``ref``,
        ``source``, ``id``). Case does not matter; ``*`` at the end matches any continuation. ``()`` removes none. In
        links that were not unescaped, ``amp;`` before a name is ignored, here and in *sessions*:
        ``?id=1&amp;utm_source=x``.
    ``sessions``
        names of parameters that are removed only if their value looks random: a UUID, also in braces, or at least 26
        letters and digits, not letters only. A ``sid`` is a visit on one host and a story on another. Unless it is
        ``()``, segments of a path with a session of ASP.NET, such as ``/(S(lit3py55t21z5v55vlm25s55))``, are removed,
        too, and those with the id of a visitor (``A``) or a login (``F``) of at least 26 characters.
    ``rules``
        ``UrlRules`` of hosts, found by ``neardup rules`` in what was crawled: further parameters, index pages, final
        slashes and the case of letters that make no difference on these hosts. Their hosts and names must be those of
        normal forms, or they would never apply.

    URLs that are equivalent by RFC 3986 (section 6) always have the same normal form: the case of scheme and host; the
    default port of http, https and ftp; ``.`` and ``..`` in the path; an empty path, which is ``/``; the
    percent-encoding of characters. So do an international host and its ASCII form (IDNA 2003, but hosts with letters
    that it replaces, such as ``ß``, are not converted), a host with and without a final dot, the spellings of an IPv6
    address, and a query with and without empty parameters. Nothing else is assumed to be equal: ``www.``, a final
    ``/``, ``index.html``, the case of a path, and ``+`` for a space all make a difference.
    """

    ignore_scheme: bool = False
    ignore_userinfo: bool = True
    ignore_fragment: bool = True
    ignore_order: bool = True
    tracking: tuple[str, ...] = TRACKING
    sessions: tuple[str, ...] = SESSIONS
    rules: UrlRules | None = None
    _tracking: tuple[frozenset[str], tuple[str, ...]] = field(init=False, repr=False, compare=False)
    _sessions: tuple[frozenset[str], tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("ignore_scheme", "ignore_userinfo", "ignore_fragment", "ignore_order"):
            require(isinstance(getattr(self, name), bool), name, getattr(self, name), "must be True or False")
        for name in ("tracking", "sessions"):
            patterns = _parameter_names(name, getattr(self, name))
            exact = frozenset(pattern for pattern in patterns if not pattern.endswith("*"))
            starts = tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*"))
            object.__setattr__(self, name, patterns)
            object.__setattr__(self, f"_{name}", (exact, starts))
        require(isinstance(self.rules, UrlRules | None), "rules", self.rules, "must be UrlRules, or None")
        for host, own in {} if self.rules is None else self.rules.hosts.items():
            fits = "@" not in host and host in {self._authority(scheme, host) for scheme in _WEB}
            rule = "is not a host in normal form, such as a.example or a.example:8080, so its rules never apply"
            require(fits, "rules", host, rule)
            for kind, alphabet, marks in _RULED:
                for name in getattr(own, kind):
                    fits = name != "" and name == alphabet.spelled(name) and not set(marks).intersection(name)
                    rule = f"is a name in the {kind} of {host} that no URL in normal form has, so it never applies"
                    require(fits, "rules", name, rule)

    @property
    def id(self) -> str:
        """16 hex digits that identify all choices: normal forms under different ids cannot be compared."""
        choices = [getattr(self, each.name) for each in fields(self) if each.init and each.name != "rules"]
        content = json.dumps([_FORM, *choices, None if self.rules is None else self.rules.id])
        return blake2b(content.encode(), digest_size=8).hexdigest()

    def normal(self, url: str) -> str:
        """Return the normal form of a URL; applied again, it changes nothing.

        It is ASCII, and a valid URI. An invalid URL, or one without a host (a relative one, ``mailto:``, an invalid
        port, a host of thousands of characters), is returned unchanged, without the spaces and control characters
        around it. Raises ``ParameterError`` unless the URL is a string. The time is linear in the length.

        >>> Addresses().normal("HTTP://Example.COM:80/a/../%7eb?utm_source=x&q=1#top")
        'http://example.com/~b?q=1'
        """
        require(isinstance(url, str), "url", url, "must be a string")
        url = url.strip(_AROUND)
        parts = self._parts(url)
        if parts is None:
            return url
        scheme, authority, path, query, fragment = parts
        if self.ignore_scheme and scheme in _WEB:
            scheme = "https"
        query = self._query(_QUERY.spelled(query), self._rules_of(authority)) if query else ""
        fragment = "" if self.ignore_fragment else _QUERY.spelled(fragment)
        return f"{scheme}://{authority}{path}{'?' if query else ''}{query}{'#' if fragment else ''}{fragment}"

    def id_of(self, url: str) -> str:
        """Return the id of the document at a URL: ``document_id`` of its normal form."""
        return document_id(self.normal(url))

    def place(self, url: str) -> tuple[str, str] | None:
        """Return the host (an IPv6 address in brackets) and the path of the normal form.

        ``None`` for an invalid URL or one without a host. Raises ``ParameterError`` unless the URL is a string.

        >>> Addresses().place("HTTP://me@Example.COM:80/a/../%7eb?q=1#top")
        ('example.com', '/~b')
        """
        require(isinstance(url, str), "url", url, "must be a string")
        parts = self._parts(url.strip(_AROUND))
        if parts is None or not parts.authority:
            return None
        host = parts.authority.rpartition("@")[2]
        return (host[: host.index("]") + 1] if host.startswith("[") else host.partition(":")[0]), parts.path

    def _parts(self, url: str) -> "_Parts | None":
        """Return the parts of a URL with scheme, authority and path in normal form; ``None`` without a valid host."""
        scheme, colon, rest = url.partition("://")
        if not colon or not _SCHEME.fullmatch(scheme):
            return None
        scheme = scheme.lower()
        rest, _, fragment = rest.partition("#")
        rest, _, query = rest.partition("?")
        rest, slash, path = rest.partition("/")
        authority = self._authority(scheme, rest)
        if authority is None:
            return None
        path, rules = self._path(_PATH.spelled(slash + path)), self._rules_of(authority)
        if rules is not None:
            visit = _VISIT if rules.case is None else _LOWERED_VISIT
            path = rules.path(path, lambda segment: self._is_session(segment, visit))
        return _Parts(scheme, authority, path, query, fragment)

    def _rules_of(self, authority: str) -> HostRules | None:
        return None if self.rules is None else self.rules.hosts.get(authority.rpartition("@")[2])

    def _authority(self, scheme: str, authority: str) -> str | None:
        user, _, place = authority.rpartition("@")
        if place.startswith("["):
            literal, bracket, port = place[1:].partition("]")
            host = _ipv6(literal) if bracket and port[:1] in {"", ":"} else None
            port = port[1:]
        else:
            name, _, port = place.partition(":")
            host = _host_name(name)
        number = port.lstrip("0") or port[:1]
        if host is None or not _PORT.fullmatch(number) or int(number or 0) > _LAST_PORT:
            return None
        if not host:  # as in file:///
            return "" if not authority and scheme not in _DEFAULT_PORT else None
        ignored = map(_DEFAULT_PORT.get, _WEB) if self.ignore_scheme and scheme in _WEB else [_DEFAULT_PORT.get(scheme)]
        port = f":{number}" if number and number not in ignored else ""
        user = "" if self.ignore_userinfo else _USER.spelled(user)
        return f"{user}{'@' if user else ''}{host}{port}"

    def _path(self, path: str) -> str:
        if ";" in path or "%3B" in path:
            path = "/".join(map(self._segment, path.split("/")))
        path = _without_dots(path) if "/." in path else path
        if "(" in path or "%28" in path:
            path = "/".join([one for one in path.split("/") if not self._is_session(one)])
        return path or "/"

    def _is_session(self, segment: str, visit: re.Pattern[str] = _VISIT) -> bool:
        if not self.sessions or not segment.endswith((")", "%29")):
            return False
        return visit.fullmatch(segment.replace("%28", "(").replace("%29", ")")) is not None

    def _segment(self, segment: str, mark: str = ";") -> str:
        first, *parameters = segment.split(mark)
        kept = mark.join([first, *[parameter for parameter in parameters if not self._is_dropped(parameter)]])
        return self._segment(kept, "%3B") if mark == ";" and ";" not in kept else kept

    def _query(self, query: str, rules: HostRules | None) -> str:
        parameters = [parameter for parameter in query.split("&") if parameter and not self._is_dropped(parameter)]
        if rules is not None:
            parameters = [parameter for parameter in parameters if _name_of(parameter) not in rules.parameters]
        if self.ignore_order:
            parameters.sort(key=_name_of)
        return "&".join(parameters)

    def _is_dropped(self, parameter: str) -> bool:
        name, _, value = parameter.partition("=")
        name = _ESCAPED.sub("", name.lower(), count=1)
        exact, starts = self._tracking
        if name in exact or name.startswith(starts):
            return True
        exact, starts = self._sessions
        return _looks_random(value) and (name in exact or name.startswith(starts))


def document_id(address: str) -> str:
    """Return the id of the document at an address: the address itself, unless it is too long.

    An id has at most 1,024 bytes of UTF-8. A longer address is cut between two characters and ends with ``#`` and 32
    hex digits, the BLAKE2b digest of the whole address. So does an address with a lone surrogate, which UTF-8 cannot
    encode (``?`` replaces it), and one that already ends like that: different addresses have different ids.
    """
    require(isinstance(address, str), "address", address, "must be a string")
    whole = address.encode("utf-8", "surrogatepass")
    marked = _CUT.fullmatch(address[-_MARKED:]) is not None
    if len(whole) <= MOST_ID_BYTES and not marked and is_utf8(address):
        return address
    room = MOST_ID_BYTES - _MARKED
    start = address[:room].encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return f"{start}#{blake2b(whole, digest_size=_DIGEST_BYTES).hexdigest()}"


def is_utf8(text: str) -> bool:
    """Return whether UTF-8 can write a string: it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _parameter_names(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """Return names of parameters in the form in which they are compared, after checking them."""
    rule = "must be names of parameters without &, ; and =, with * only at the end"
    require(isinstance(given, Iterable) and not isinstance(given, str), name, given, "must be a list of names")
    names = tuple(given)
    for each in names:
        require(isinstance(each, str) and each != "", name, each, rule)
        require(not any(mark in each for mark in "&;=") and "*" not in each[:-1], name, each, rule)
    return tuple(_QUERY.spelled(each).lower() for each in names)


def _name_of(parameter: str) -> str:
    return parameter.partition("=")[0]


def _looks_random(value: str) -> bool:
    """Return whether a value looks random; it is ASCII, because it is percent-encoded."""
    if len(value) < _SESSION_LENGTH:
        return False
    if value.isdigit():
        return len(set(value)) >= _DIGITS  # not a number of zeros
    return (value.isalnum() and not value.isalpha()) or _UUID.fullmatch(value) is not None


def _ipv6(literal: str) -> str | None:
    """Return the RFC 5952 form of an IPv6 address in brackets; ``None`` if it is invalid or has a zone."""
    if len(literal) > _IPV6_LENGTH or "%" in literal:
        return None
    try:
        address = IPv6Address(literal)
    except AddressValueError:
        return None
    mapped = address.ipv4_mapped  # Python versions spell it differently
    return f"[{address}]" if mapped is None else f"[::ffff:{mapped}]"


def _host_name(host: str) -> str | None:
    """Return the normal form of a host name; ``None`` if it is too long, has brackets, or only dots."""
    if len(host) > _HOST_LENGTH or "[" in host or "]" in host:
        return None
    if "%" not in host and not _NAME.foreign.search(host):
        spelled = host.lower()
    elif (decoded := _decoded(host)) is not None:
        name = "".join(map(str.lower, decoded)).rstrip(_DOTS)  # one by one: a final Σ does not become ς in a host
        spelled = _NAME.spelled((_ascii(name) or name).replace("%", "%25"))
    else:
        spelled = _NAME.spelled(_NAME.spelled("".join(map(str.lower, host))).lower())
    name = spelled.rstrip(".")
    return None if len(name) > _HOST_LENGTH or (host and not name) else name


def _decoded(host: str) -> str | None:
    try:
        return unquote_to_bytes(host.encode("utf-8", "surrogatepass")).decode()
    except UnicodeDecodeError:
        return None


def _ascii(name: str) -> str | None:
    """Return the ASCII form of an international name; ``None`` if it has none with the same meaning."""
    if name.isascii() or len(name) > _NAME_LENGTH or not _DEVIATIONS.isdisjoint(name):
        return None
    try:
        spelled = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return None
    return None if "%" in spelled or _NAME.foreign.search(spelled) else spelled


def _without_dots(path: str) -> str:
    """Remove the segments ``.`` and ``..`` as by section 5.2.4 of RFC 3986, in linear time.

    >>> _without_dots("/a/b/c/./../../g")
    '/a/g'
    """
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)
