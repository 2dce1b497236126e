"""Ed25519 keys in PEM files: the one door to the package cryptography, which is optional.

Importing this raises RunError where the package is not installed. Keys and signatures leave as
bytes.
"""

from ..errors import RunError

try:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )
except ImportError:
    raise RunError(
        "signatures need the package cryptography: pip install 'trivium[sign]'"
    ) from None


def generate() -> tuple[bytes, bytes]:
    """Return the PEM texts of a new private key (PKCS #8, not encrypted) and its public key."""
    key = Ed25519PrivateKey.generate()
    plain = (forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    public = (forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    return key.private_bytes(*plain), key.public_key().public_bytes(*public)


def sign(pem: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Return the 32 bytes of the public key that belongs to a private key, and the signature."""
    key = _private_key(pem)
    return key.public_key().public_bytes_raw(), key.sign(message)


def verify(public: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether a signature of a message was made with the key of 32 bytes `public`."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def public_key(pem: bytes) -> bytes:
    """Return the 32 bytes of a public key; RunError for anything else."""
    if b"PRIVATE KEY-----" in pem:
        raise RunError("is a private key, must be a public key: openssl pkey -pubout prints it")
    try:
        key = forms.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise RunError("is not a public key in PEM form") from None
    if not isinstance(key, Ed25519PublicKey):
        raise RunError("is a public key of another kind, must be of Ed25519")
    return key.public_bytes_raw()


def _private_key(pem: bytes) -> Ed25519PrivateKey:
    if b"PUBLIC KEY-----" in pem:
        raise RunError("is a public key, must be the private key that belongs to it")
    try:
        key = forms.load_pem_private_key(pem, password=None)
    except TypeError:
        raise RunError("is encrypted, must be a private key without a passphrase") from None
    except (ValueError, UnsupportedAlgorithm):
        raise RunError("is not a private key in PEM form") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise RunError("is a private key of another kind, must be of Ed25519")
    return key
