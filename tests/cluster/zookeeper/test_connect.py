from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.cluster.connect_string import ConnectString, parse_connect_string
from kadmin.errors import InvalidInputError

hosts = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?", fullmatch=True) | st.just("::1")
servers = st.lists(st.tuples(hosts, st.integers(1, 65_535)), min_size=1, max_size=5).map(tuple)
chroots = st.lists(st.from_regex(r"[a-z0-9_-]{1,8}", fullmatch=True), max_size=3).map(
    lambda parts: "".join(f"/{part}" for part in parts)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost:2181", ConnectString((("localhost", 2181),))),
        ("localhost:2181/", ConnectString((("localhost", 2181),))),
        (
            "zk1:2181,zk-2.example.org:2182",
            ConnectString((("zk1", 2181), ("zk-2.example.org", 2182))),
        ),
        ("127.0.0.1:1/kafka", ConnectString((("127.0.0.1", 1),), "/kafka")),
        ("a:1,b:65535/kafka/one", ConnectString((("a", 1), ("b", 65_535)), "/kafka/one")),
        ("[::1]:2181/k", ConnectString((("::1", 2181),), "/k")),
        (
            "[fe80::1]:2181,[2001:db8::2]:2182",
            ConnectString((("fe80::1", 2181), ("2001:db8::2", 2182))),
        ),
    ],
)
def test_connect_strings(text: str, expected: ConnectString) -> None:
    assert parse_connect_string(text) == expected


@given(servers, chroots)
def test_printing_and_parsing_are_inverse(listed: tuple[tuple[str, int], ...], chroot: str) -> None:
    """What a ConnectString prints is what makes it again."""
    connect = ConnectString(listed, chroot)
    assert parse_connect_string(str(connect)) == connect
    assert str(connect) == connect.hosts + chroot


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "empty"),
        (" ", "blank"),
        ("zk1:2181, zk2:2181", "blank"),
        ("zk1:2181\n", "line break"),
        ("localhost", "no port; ZooKeeper's usual one is localhost:2181"),
        ("zk1:2181,zk2/kafka", "no port; ZooKeeper's usual one is zk2:2181"),
        ("localhost:", "the port '' is not a number"),
        ("localhost:abc", "the port 'abc' is not a number"),
        (":abc", "no host name"),
        (":2181", "no host name"),
        ("localhost:0", "from 1 to 65535"),
        ("localhost:65536", "from 1 to 65535"),
        ("localhost:-1", "the port '-1' is not a number"),
        ("localhost:\u0662\u0661", "is not a number"),
        ("zk1:2181,,zk2:2181", "between two commas"),
        ("zk1:2181,", "at an end"),
        ("/kafka", "before the chroot"),
        ("zk1:2181/a,zk2:2181/b", "once"),
        ("zk1:2181/a,zk2:2181", "once"),
        ("zk1:2181/kafka/", "ends with a slash"),
        ("zk1:2181//kafka", "an element is empty"),
        ("zk1:2181/a/../b", "an element is empty, '.' or '..'"),
        ("::1:2181", "brackets"),
        ("[::1]", "no port"),
        ("[zk1]:2181", "not a host name or address"),
        ("z*k:2181", "not a host name or address"),
        ("http://zk1:2181", "a URL"),
        ("zk1:2181/\ud800", "does not allow"),
    ],
)
def test_bad_connect_strings_say_what_is_wrong(text: str, cause: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_connect_string(text)
    assert cause in (caught.value.cause or "")
    assert repr(text) in caught.value.message
    assert "host:port" in (caught.value.next_command or "")


@given(st.text(max_size=40))
def test_any_text_parses_or_is_refused(text: str) -> None:
    """Bad input is an error with a cause, never another exception."""
    try:
        connect = parse_connect_string(text)
    except InvalidInputError as error:
        cause = error.cause
    else:
        cause = "none"
        assert connect.servers
    assert cause
