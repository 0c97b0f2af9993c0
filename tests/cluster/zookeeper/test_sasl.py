"""SASL: exchanges of DIGEST-MD5 that ZooKeeper 3.8.4 completed, security layers of GSSAPI, servers
without SASL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.network.frame_proxy import Action, Fault, request_of

from kadmin.cluster.kerberos import KerberosError
from kadmin.errors import NotAuthorizedError
from kadmin.worlds.zookeeper.wire.authentication import Authentication, Sasl
from kadmin.worlds.zookeeper.wire.sasl import DigestMd5Error, choose_no_layer, respond
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from support.zookeeper.fault_proxy import FaultProxy

SASL = 102
NONCES = {
    "kafka": ("T+42goVmHe+LS1A39IQpVZnH0CgzzLWQ6x8z8EGH", "8dca74d8d72cf9cbdfdd2f96fa68b94b"),
    "anna": ("KrZna2blZEViYWZUpipZR+5GxEO7/zInzueIBreT", "d8505633745e51ef09122d7588bad9ec"),
    "kim": ("f9vc1avCYWnM6vjAIB+kPn2zHFwN9cOqGj4lOMX2", "c6a3b7f2631413666e1779a790f15289"),
}
ACCEPTED = [
    (
        "kafka",
        'a "quoted" \\ word',
        "8a886d69ee52239557935388db41239f",
        "5983a20c73d97d14452dd6f0b55f791b",
    ),
    ("anna", "pässwort", "b539491609bd1306a8d05b851b9d2c0a", "52b0f1c7c73881b2ef5ceb7048db06b3"),
    ("kim", "€uro", "afca9b115a89477ddfc047df87164b09", "c25a7545973dee7cd55401b58274fc3f"),
]


def challenge(nonce: str) -> bytes:
    return f'realm="zk-sasl-md5",nonce="{nonce}",charset=utf-8,algorithm=md5-sess'.encode()


@pytest.mark.parametrize(("user", "password", "response", "proof"), ACCEPTED)
def test_an_exchange_is_as_the_server_took_it(
    user: str, password: str, response: str, proof: str
) -> None:
    nonce, client_nonce = NONCES[user]
    found = respond(challenge(nonce), user, password, client_nonce)
    assert found.message.decode() == (
        f'username="{user}",realm="zk-sasl-md5",nonce="{nonce}",cnonce="{client_nonce}",'
        f'digest-uri="zookeeper/zk-sasl-md5",nc=00000001,qop=auth,response={response},charset=utf-8'
    )
    found.require_proof(f"rspauth={proof}".encode())
    with pytest.raises(DigestMd5Error):
        found.require_proof(f"rspauth={response}".encode())


@pytest.mark.parametrize(
    "given", [b"", b"\xff", b"NTLM", b'realm="a"', b'nonce="a",qop="auth-int"']
)
def test_a_challenge_of_another_kind_is_refused(given: bytes) -> None:
    with pytest.raises(DigestMd5Error):
        respond(given, "kafka", "secret", "nonce")


def test_of_the_security_layers_none_is_chosen() -> None:
    """RFC 4752, 3.1: the layer in one octet, and with no layer a size of 0; the server takes the
    name of the ticket.
    """
    assert choose_no_layer(bytes([7, 1, 0, 0])) == bytes([1, 0, 0, 0])


@pytest.mark.parametrize("offer", [b"", bytes([1]), bytes([6, 1, 0, 0]), bytes([1, 0, 0, 0, 0])])
def test_an_offer_without_that_choice_is_refused(offer: bytes) -> None:
    with pytest.raises(KerberosError, match="wants a security layer"):
        choose_no_layer(offer)


def refusal(connect: str) -> str | None:
    with pytest.raises(NotAuthorizedError, match="refuses sasl:kafka") as caught:
        Store.connect(connect, authentication=Authentication(sasl=Sasl("kafka", "canary")))
    assert "canary" not in repr(caught.value) + "".join(caught.value.lines())
    return caught.value.cause


@pytest.mark.zookeeper
def test_a_server_without_sasl_and_one_that_hangs_up_are_named(proxy: FaultProxy) -> None:
    """A connection that is cut is made again, twice."""
    proxy.faults = [Fault(Action.CUT_BEFORE, request_of(SASL), times=2)]
    assert refusal(proxy.connect_string) == "the server has no SASL"
    assert len(proxy.requests(SASL)) == 3
    proxy.faults = [Fault(Action.CUT_BEFORE, request_of(SASL), times=3)]
    assert refusal(proxy.connect_string) == "the server closes the connection when asked for SASL"
