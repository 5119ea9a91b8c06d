#!/usr/bin/env python3
"""Writes valid/, hostile/, invalid/ and signatures.txt from their meaning, independently of every codec.

    make_vectors.py           writes all vectors, removes those that no longer exist
    make_vectors.py --check   exits 1 if a committed vector differs from what would be written
    make_vectors.py --large FOLDER  only writes those of hostile.py that are too large to be kept, some of several batches

The compressed vectors need two packages, whose versions decide their bytes: pip install -r requirements.txt
"""

import argparse
import hashlib
import hmac
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def files():
    from generator.invalid import FAULTS
    from generator.meaning import dump, meaning
    from generator.model import build
    from generator.valid import VECTORS

    indexes = {"valid": {}, "hostile": {}}
    signatures = ""
    for name, vector in sorted(VECTORS.items()):
        indexes[vector.folder][name] = {"about": vector.about, "encode": vector.encodable}
        batch = bytes(build(vector.batch).data)
        key = hashlib.sha256(name.encode()).digest()
        signatures += f"{key.hex()} {vector.folder}/{name}.llb {hmac.new(key, batch, 'sha256').hexdigest()}\n"
        yield f"{vector.folder}/{name}.llb", batch
        yield f"{vector.folder}/{name}.json", dump(meaning(vector.batch)).encode()
    for name, fault in sorted(FAULTS.items()):
        yield f"invalid/{name}.llb", fault.data
        told = {"code": fault.code, "offset": fault.offset, "why": fault.about}
        yield f"invalid/{name}.json", (json.dumps(told) + "\n").encode()
    yield "signatures.txt", signatures.encode()
    for path, index in (("index.json", indexes["valid"]), ("hostile.json", indexes["hostile"])):
        yield path, (json.dumps(index, indent=2, ensure_ascii=False) + "\n").encode()


def make_large(folder):
    from generator.hostile import LARGE
    from generator.model import Batch, build

    for name, make in LARGE.items():
        made = make()
        batches = [made] if isinstance(made, Batch) else made
        (folder / f"{name}.llb").write_bytes(b"".join(bytes(build(batch).data) for batch in batches))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a vector is out of date")
    parser.add_argument("--large", metavar="FOLDER", type=Path, help="only write what is too large to be kept")
    arguments = parser.parse_args()
    if arguments.large:
        return make_large(arguments.large)
    try:
        wanted = {HERE / path: data for path, data in files()}
    except ModuleNotFoundError as error:
        sys.exit(f"{error}; run: pip install -r {HERE / 'requirements.txt'}")

    present = {
        path
        for folder in ("valid", "hostile", "invalid")
        for kind in ("llb", "json")
        for path in (HERE / folder).glob(f"*.{kind}")
    }
    stale = sorted(present - wanted.keys()) + [p for p, d in wanted.items() if not p.exists() or p.read_bytes() != d]
    if arguments.check:
        for path in stale:
            print(f"{path.relative_to(HERE)} differs from what make_vectors.py makes", file=sys.stderr)
        sys.exit(1 if stale else 0)
    for path in stale:
        if path in wanted:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(wanted[path])
        else:
            path.unlink()
    print(f"{len(wanted)} files, {len(stale)} changed")


if __name__ == "__main__":
    main()
