"""The owner's key: kept, hidden, and found damaged."""

from __future__ import annotations

import pickle
import stat
from pathlib import Path

import pytest

from easeci.errors import ExitCode, InfrastructureError
from easeci.vault.key import KEY_FILE, Key, create_key, load_key


def test_a_key_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    key = create_key(tmp_path)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert load_key(tmp_path).digest(b"x") == key.digest(b"x")
    assert create_key(tmp_path).digest(b"x") == key.digest(b"x"), "the first one stays"


def test_a_key_is_never_shown(tmp_path: Path) -> None:
    key = create_key(tmp_path)
    secret = (tmp_path / KEY_FILE).read_text()[:64]
    assert secret not in repr(key) + str(key)
    assert bytes.fromhex(secret).decode("latin-1") not in repr(key)
    with pytest.raises(TypeError):
        pickle.dumps(key)


def test_digests_depend_on_content_key_and_purpose(tmp_path: Path) -> None:
    one, other = Key(b"1" * 32), Key(b"2" * 32)
    digests = {
        one.digest(b"a"),
        one.digest(b"b"),
        one.digest(b"a", "else"),
        other.digest(b"a"),
    }
    assert len(digests) == 4
    (tmp_path / "f").write_bytes(b"a")
    assert one.digest_file(tmp_path / "f") == one.digest(b"a") == one.digest_chunks([b"", b"a"])
    with pytest.raises(OSError, match="not a regular file"):
        one.digest_file(tmp_path)


def test_a_store_has_an_identity_that_tells_nothing_about_its_key() -> None:
    one, other = Key(b"1" * 32), Key(b"2" * 32)
    assert one.identity == Key(b"1" * 32).identity != other.identity
    assert one.identity not in one.file_content().decode()


def test_any_bit_flipped_in_the_key_is_found(tmp_path: Path) -> None:
    create_key(tmp_path)
    path = tmp_path / KEY_FILE
    whole = path.read_bytes()
    for position in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[position] ^= 1 << bit
            path.write_bytes(changed)
            with pytest.raises(InfrastructureError) as caught:
                load_key(tmp_path)
            assert "changed or damaged" in caught.value.message
    path.write_bytes(whole + b"\n")
    with pytest.raises(InfrastructureError):
        load_key(tmp_path)


def test_a_lost_key_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError) as caught:
        load_key(tmp_path)
    assert "is lost" in str(caught.value)
    assert "backup" in str(caught.value)
    assert caught.value.exit_code == ExitCode.INTERNAL
