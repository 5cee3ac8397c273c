"""How the tests seal and hash, as the api and status-ingest would."""

from chassis.seal import KeyRing, Pepper
from contracts.matching import RECIPIENT_PURPOSE, TEXT_PURPOSE, text_key
from gateways.recipients import recipient_key

KEYS = KeyRing.parse("k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
PEPPER = Pepper.parse("cGVwcGVyLXBlcHBlci1wZXBwZXItcGVwcGVyLXBlcHBlcg==")


def hash_of(recipient: str) -> str:
    return PEPPER.hash(recipient_key(recipient), purpose=RECIPIENT_PURPOSE)


def hash_of_text(said: str) -> str:
    return PEPPER.hash(text_key(said), purpose=TEXT_PURPOSE)
