from neardup.sources.url_forms import forms, web_address


def test_http_and_https_are_the_same_and_other_values_are_no_pages():
    assert (
        web_address("http://A.example:80/x#y")
        == web_address("https://a.example/x")
        == ("a.example", "https://a.example/x")
    )
    assert web_address("http://me@a.example:8080")[0] == "a.example:8080"
    assert [web_address(each) for each in ("", "page 7", "ftp://a.example/x", "https://", "https:///x")] == [None] * 5


def test_each_part_is_left_out():
    found = [tuple(form) for form in forms("https://a.example/b/index.html?a=1&b&a=2")]
    assert found == [
        ("parameters", "a", "https://a.example/b/index.html?b"),
        ("parameters", "b", "https://a.example/b/index.html?a=1&a=2"),
        ("index_pages", "index.html", "https://a.example/b/?a=1&b&a=2"),
    ]
    assert [tuple(form) for form in forms("https://a.example/b;v=1;w")] == [
        ("path_parameters", "v", "https://a.example/b;w"),
        ("path_parameters", "w", "https://a.example/b;v=1"),
    ]


def test_forms_differ_from_the_url():
    for path in ("", "a", "..;v=1", "?=1", "a;=1", "%2F", "A", "a/", "/"):
        normal = f"https://a.example/{path}"
        assert all(form.url != normal for form in forms(normal))
    assert list(forms("https://a.example/")) == []


def test_a_url_of_many_parameters_has_no_forms():
    assert len(list(forms("https://a.example/?" + "&".join(f"{n}=1" for n in range(32))))) == 32
    assert list(forms("https://a.example/?" + "&".join(f"{n}=1" for n in range(33)))) == []
