#!/usr/bin/env python3
"""Writes valid/, hostile/, invalid/ and signatures.txt from their meaning, independently of every codec.

    make_vectors.py           writes all vectors, removes those that no longer exist
    make_vectors.py --check   exits 1 if a committed vector differs from what would be written
    make_vectors.py --large   prints a folder in build/ with those of hostile.py that are too large to be kept, made if they are
                              not there: NAME.llb with batches one behind the other, and due.txt with what readers have to
                              do, as hostile.json has it: a line for each name, reader, outcome and number of batches

The compressed vectors need two packages, whose versions decide their bytes: pip install -r requirements.txt
"""

import argparse
import hashlib
import hmac
import json
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def files():
    from generator.hostile import MADE
    from generator.invalid import FAULTS
    from generator.meaning import dump, meaning
    from generator.model import build
    from generator.valid import VECTORS

    indexes = {"valid": {}, "hostile": {}}
    signatures = ""
    for name, vector in sorted(VECTORS.items()):
        indexes[vector.folder][name] = {"about": vector.about, "encode": vector.encodable}
        if vector.folder == "hostile":
            indexes["hostile"][name]["due"] = {"any": {"accepted": 1}}
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
    indexes["hostile"] |= {name: {"about": each.about, "made": True, "due": each.due} for name, each in sorted(MADE.items())}
    for path, index in (("index.json", indexes["valid"]), ("hostile.json", indexes["hostile"])):
        yield path, (json.dumps(index, indent=2, ensure_ascii=False) + "\n").encode()


def large():
    """The folder, named by what its files are made of, so that all tests share it."""
    from generator.hostile import MADE

    sources = b"".join(path.read_bytes() for path in [Path(__file__), *sorted((HERE / "generator").glob("*.py"))])
    folder = HERE.parents[1] / "build/hostile" / hashlib.sha256(sources).hexdigest()[:16]
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    lines = []
    for name, each in MADE.items():
        (made / f"{name}.llb").write_bytes(b"".join(each.batches()))
        lines += [f"{name} {reader} {outcome} {count}\n" for reader, due in each.due.items() for outcome, count in due.items()]
    (made / "due.txt").write_text("".join(lines))
    try:
        made.rename(folder)
    except OSError:  # another test was faster
        shutil.rmtree(made)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a vector is out of date")
    parser.add_argument("--large", action="store_true", help="only make what is too large to be kept, and print its folder")
    arguments = parser.parse_args()
    if arguments.large:
        return print(large())
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
