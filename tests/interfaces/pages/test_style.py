import re

from neardup.interfaces.pages.style import STYLE


def test_every_colour_is_defined_for_light_and_dark():
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+)", part)) for part in STYLE.split("@media", 1))
    used = {*re.findall(r"var\(--([\w-]+)\)", STYLE)}
    assert used <= light.keys()
    assert light.keys() == {*re.findall(r"--([\w-]+):", dark and STYLE.split("@media")[1])}


def test_braces_are_closed():
    assert STYLE.count("{") == STYLE.count("}")
    assert "http" not in STYLE
