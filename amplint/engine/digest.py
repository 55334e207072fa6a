"""Short names for bytes and texts, equal where those are equal; knows nothing of what they hold."""

try:
    from _blake2 import blake2b  # `hashlib` loads OpenSSL first, which takes as long as checking ten functions
except ImportError:
    from hashlib import blake2b


def digest(data: bytes | str) -> str:
    """A name for bytes or a text; names of files may hold what is no text."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return blake2b(data, digest_size=16).hexdigest()
