#!/usr/bin/env python3
"""Changes the vectors at random, repairs CRC and lengths, and asks every decoder: all must say the same.

Equal means the same meaning, floats by their bits, or the same code of rejection. A batch with several faults has one
right code too: FORMAT.md, section 9, gives the order of the checks.

Closes with `differential: batches=N accepted=N rejected=N disagreements=N`; exits 1 if decoders disagree, and
keeps each such batch with --keep. The same seed gives the same batches.
"""

import argparse
import json
import random
import struct
import sys
from pathlib import Path

from generator.model import crc32c, fnv1a64
from meanings import NotAMeaning, difference, normalised
from run import HERE, Failures, frames, json_lines, present_adapters, run_stream

LARGEST_SEED = 2_000  # bytes; larger vectors are slow and reach nothing else
INTERESTING = [0, 1, 2, 7, 8, 9, 12, 16, 127, 128, 255, 256, 32_767, 32_768, 65_535, 2**31, 2**32 - 1, 2**63, 2**64 - 1]


def orders(data):
    return ">" if data[5] == 1 else "<"


def mutate(data, rng):
    data = bytearray(data)
    events, events_end = zstd_events(data)
    stored = bytes(data[events:events_end])
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        kind = rng.randrange(5 if stored else 6)
        at = rng.randrange(4, len(data) - 4)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice(INTERESTING) % 256
        elif kind in (2, 3):
            size = rng.choice([2, 4, 8])
            at -= at % size
            value = rng.choice(INTERESTING) % 2 ** (8 * size)
            data[at : at + size] = value.to_bytes(size, "big" if orders(data) == ">" else "little")
        elif kind == 4:
            source = rng.randrange(4, len(data) - 4)
            length = rng.choice([1, 2, 8, 16])
            data[at : at + length] = data[source : source + length]
        else:
            length = 8 * rng.randrange(1, 4)
            data[at:at] = bytes(length)
            grow(data, rng.choice([12, 60, 64]), length)
    if stored:
        data[events:events_end] = stored
    return data


def zstd_events(data):
    """Where a batch's zstd frame lies: left as it is, since decoders notice more or less of a corrupt one."""
    if data[6] != 2:
        return 0, 0
    header, descriptors, events = (struct.unpack_from(orders(data) + "I", data, at)[0] for at in (12, 60, 64))
    return header + descriptors, header + descriptors + events


def grow(data, offset, length):
    """Lets a section, mostly that of the inserted bytes, have grown by them."""
    order = orders(data)
    for at in (offset, 56) + ((68,) if offset == 64 and data[6] == 0 else ()):
        (value,) = struct.unpack_from(order + "I", data, at)
        struct.pack_into(order + "I", data, at, (value + length) % 2**32)


def repair_hashes(data):
    """Makes the types' hashes true in a little-endian batch, where its descriptors can be walked at all."""
    header, descriptors = (struct.unpack_from("<I", data, at)[0] for at in (12, 60))
    at, end = header, header + descriptors
    while at + 20 <= end <= len(data) and data[5] == 0:
        (length,) = struct.unpack_from("<I", data, at)
        if length < 20 or at + length > end:
            return
        try:
            identity_end = end_of_identity(data, at)
        except (struct.error, KeyError):
            return
        struct.pack_into("<Q", data, at + 8, fnv1a64(data[at + 16 : min(identity_end, at + length)]))
        at += length


def end_of_identity(data, at):
    fields, constants = data[at + 17], data[at + 18]
    here = at + 20 + 2 + struct.unpack_from("<H", data, at + 20)[0]
    for part in range(fields + constants):
        (kind,) = struct.unpack_from("B", data, here)
        here += 1
        for _ in ("name", "unit"):
            here += 2 + struct.unpack_from("<H", data, here)[0]
        if part >= fields:
            sizes = {1: 4, 2: 8, 3: 4, 4: 8, 6: 4, 7: 8, 8: 1}
            here += 2 + struct.unpack_from("<H", data, here)[0] if kind in (5, 9) else sizes[kind]
    return here


def batches(count, seed):
    paths = sorted((HERE / "valid").glob("*.llb"))
    seeds = [data for path in paths if len(data := path.read_bytes()) <= LARGEST_SEED]
    rng = random.Random(seed)
    for _ in range(count):
        data = mutate(rng.choice(seeds), rng)
        if rng.random() < 0.8:
            struct.pack_into(orders(data) + "I", data, 56, len(data))
        if rng.random() < 0.7:
            repair_hashes(data)
        struct.pack_into(orders(data) + "I", data, len(data) - 4, crc32c(data[:-4]))
        yield bytes(data)


def verdict(answer):
    """What decoders must agree on."""
    if "rejected" in answer:
        return answer["rejected"]
    try:
        return normalised(answer)
    except NotAMeaning as error:
        return f"garbled: {error}"


def short(answer):
    if isinstance(answer, str):
        return answer
    return "accepts"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=2_000, help="how many (2000)")
    parser.add_argument("--seed", type=int, default=1, help="of the changes (1)")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="write batches that decoders disagree on there")
    parser.add_argument("--adapters", metavar="FILE", type=Path, default=HERE / "adapters.json", help="other codecs")
    arguments = parser.parse_args()

    failures = Failures()
    adapters = present_adapters(arguments.adapters, False, failures)
    messages = list(batches(arguments.batches, arguments.seed))
    answers = {}
    for language, adapter in adapters.items():
        said = run_stream(
            adapter["decode"], frames(messages), json_lines, len(messages), f"{language} decode", failures
        )
        if said is not None:
            answers[language] = said
    accepted = disagreements = 0
    for number, message in enumerate(messages):
        said = {language: verdict(all_answers[number]) for language, all_answers in answers.items()}
        first = next(iter(said.values()), None)
        accepted += isinstance(first, dict)
        if all(other == first for other in said.values()):
            continue
        disagreements += 1
        words = {language: short(answer) for language, answer in said.items()}
        if len(set(words.values())) == 1:
            words = {language: difference(first, answer) or "as the first" for language, answer in said.items()}
        print(f"DISAGREE batch {number}: {json.dumps(words)}")
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / f"{arguments.seed}-{number}.llb").write_bytes(message)
    rejected = len(messages) - accepted
    print(
        f"differential: batches={len(messages)} accepted={accepted} rejected={rejected} disagreements={disagreements}"
    )
    sys.exit(1 if disagreements or failures.count else 0)


if __name__ == "__main__":
    main()
