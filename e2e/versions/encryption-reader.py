"""Reads an encrypted repository by engine/repository/FORMAT.md alone, and prints what its branch main holds.

Usage: encryption-reader.py FOLDER (the password is in DRAY_PASSWORD, Node's path in NODE)
Prints one JSON object: for each path of the commit, the SHA-256 of its content.
"""

import base64, hashlib, hmac, json, math, os, struct, subprocess, sys
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

FRAME = 256 * 1024
folder = sys.argv[1]
password = os.environ["DRAY_PASSWORD"]


def stored(key):
    with open(os.path.join(folder, key), "rb") as file:
        return file.read()


def derive(secret, repository, info):
    return HKDF(hashes.SHA256(), 32, repository.encode(), info.encode()).derive(secret)


def recovery_key(text):
    digits = text.upper().replace("-", "").replace(" ", "")
    return base64.b32decode(digits[4:] + "====") if digits.startswith("DRAY") else None


def unlock(repository):
    for name in sorted(os.listdir(os.path.join(folder, "keys"))):
        if name.endswith(".record"):
            continue
        raw = stored("keys/" + name)
        assert hashlib.sha256(raw).hexdigest() == name, "a damaged slot"
        slot = json.loads(raw)
        argon = slot.get("argon2id")
        if slot["repository"] != repository:
            continue
        if argon:
            salt = bytes.fromhex(argon["salt"])
            secret = Argon2id(salt=salt, length=32, iterations=argon["passes"], lanes=argon["lanes"],
                              memory_cost=argon["memoryKiB"]).derive(password.encode())
        else:
            secret = recovery_key(password)
        if secret is None or derive(secret, repository, "dray/slot/check").hex() != slot["check"]:
            continue
        facts = [repository, slot["kind"], slot["label"], slot["created"], argon["salt"] if argon else ""]
        text = json.dumps(facts, separators=(",", ":"), ensure_ascii=False).encode()
        cipher = AESGCM(derive(secret, repository, "dray/slot/key"))
        return cipher.decrypt(bytes.fromhex(slot["nonce"]), bytes.fromhex(slot["sealed"]), text)
    sys.exit("no slot has this password")


def stored_key(kind, name):
    left, right = bytes.fromhex(name)[:16], bytes.fromhex(name)[16:]
    for key in name_keys:
        mixed = Cipher(algorithms.AES256(key), modes.ECB()).encryptor().update(right)
        left, right = right, bytes(a ^ b for a, b in zip(left, mixed))
    name = (left + right).hex()
    return f"{kind}/{name[:2]}/{name[2:]}"


def padded(size):
    if size <= 512:
        return 512
    exponent = int(math.log2(size))
    step = 2 ** (exponent - (int(math.log2(exponent)) + 1))
    return -(-size // step) * step


def opened(key):
    raw = stored(key)
    cipher = AESGCM(hmac.digest(content_key, key.encode(), "sha256"))
    assert raw[:4] == b"DRS1", "plain content"
    nonce = raw[4:16]

    def part(number, sealed):
        last = struct.unpack(">I", nonce[8:])[0] ^ number
        return cipher.decrypt(nonce[:8] + struct.pack(">I", last), sealed, None)

    size = struct.unpack(">Q", part(0, raw[16:40]))[0]
    content, at = b"", 40
    while at < len(raw):
        frame = raw[at : at + FRAME + 28]
        assert frame[:12] == nonce, "frames of two writes"
        content += part(len(content) // FRAME + 1, frame[12:])
        at += len(frame)
    assert len(content) == padded(size), "a wrong size"
    assert content[size:].count(0) == len(content) - size, "padding that is not zero"
    return content[:size]


def named(kind, name, generation=0):
    return opened(stored_key(kind, name) + (f".{generation}" if generation else ""))


def unzstd(data):
    program = "process.stdout.write(require('zlib').zstdDecompressSync(require('fs').readFileSync(0)))"
    return subprocess.run([os.environ["NODE"], "-e", program], input=data, capture_output=True, check=True).stdout


def document(kind, name):
    raw = unzstd(named(kind, name))
    assert hashlib.sha256(raw).hexdigest() == name, "another document"
    return json.loads(raw)


descriptor = json.loads(stored("dray.json"))
repository = descriptor["id"]
master = unlock(repository)
assert derive(master, repository, "dray/check").hex() == descriptor["encryption"]["check"], "another master key"
name_keys = [derive(master, repository, f"dray/names/{number}") for number in range(4)]
content_key = derive(master, repository, "dray/content")

commit = document("commits", json.loads(opened("refs/heads/main"))["commit"])
segments = [commit["manifest"]] if "manifest" in commit else [
    document("manifests", segment["hash"]) for segment in commit["segments"]
]
found = {}
for segment in segments:
    for entry in segment["entries"]:
        if "size" not in entry:
            continue
        if "encoding" in entry:
            sys.exit("this reader knows no compression")
        if entry["size"] == 0:
            content = b""
        elif "pack" in entry:
            number, offset = entry["pack"][:2]
            content = named("packs", segment["packs"][number])[offset : offset + entry["size"]]
        elif "chunks" in entry:
            parts = [named("objects", chunk[0]) for chunk in entry["chunks"]]
            digests = b"".join(hashlib.sha256(part).digest() for part in parts)
            assert hashlib.sha256(digests).hexdigest() == entry["blob"], "wrong chunks"
            content = b"".join(parts)
        else:
            content = named("objects", entry["blob"], entry.get("generation", 0))
        found[entry["path"]] = hashlib.sha256(content).hexdigest()
print(json.dumps(found))
