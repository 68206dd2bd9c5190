"""`lengthlab serve`: its mistakes (the server itself is tested in tests/web)."""

from collections.abc import Callable


def test_a_port_that_there_is_not_is_refused(lengthlab: Callable[..., tuple[int, str, str]]) -> None:
    status, _, err = lengthlab("serve", "--port", "99999999")
    assert status == 2 and "--port 0" in err
