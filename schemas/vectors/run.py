#!/usr/bin/env python3
"""Holds every codec to the vectors: each producer of batches against each consumer.

Producers are the golden files and the encoders of adapters.json, consumers its decoders. Checked are
  - the JSON meaning that a consumer prints for each valid batch, hostile ones included, floats by their bits;
  - the code with which it rejects each invalid batch, from all consumers the same;
  - the bytes of each encoder, equal to the golden file where meaning decides them (index.json says "identical");
  - that each encoder refuses what is no meaning of a batch (refused.json);
  - the command line of each adapter: exit status, message, --help;
  - the annotated hex dumps (valid/*.hex.md), byte for byte.

Closes with `vectors: valid=N invalid=N pairs=N failed=N`, where a pair is a producer with a consumer. Exits 1 if
anything failed. Python's standard library only; commands run from the root of the repository.
"""

import argparse
import fnmatch
import json
import re
import struct
import subprocess
import sys
from pathlib import Path

from meanings import NotAMeaning, difference, normalised

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TIMEOUT_S = 300


class Failures:
    def __init__(self):
        self.count = 0

    def add(self, where, what):
        self.count += 1
        print(f"FAILED {where}: {what}")


def frames(messages):
    return b"".join(struct.pack("<I", len(message)) + message for message in messages)


def unframed(data):
    messages, at = [], 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        messages.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return messages if at == len(data) else None


def run(command, data):
    return subprocess.run(command, input=data, capture_output=True, cwd=ROOT, timeout=TIMEOUT_S)


def run_stream(command, data, parse, count, where, failures):
    """The adapter's answers, one per message, or None after it has failed as a whole."""
    try:
        done = run([*command, "--stream"], data)
    except subprocess.TimeoutExpired:
        failures.add(where, f"no end after {TIMEOUT_S} s")
        return None
    answers = parse(done.stdout)
    if done.returncode == 0 and answers is not None and len(answers) == count:
        return answers
    last_words = done.stderr.decode(errors="replace").strip()[-300:]
    told = "garbled" if answers is None else len(answers)
    failures.add(where, f"exit {done.returncode}, {told} answers to {count} messages; stderr: {last_words or '-'}")
    return None


def json_lines(data):
    try:
        return [json.loads(line) for line in data.split(b"\n") if line]
    except ValueError:
        return None


def fault_in_meaning(golden, answer):
    """What is wrong with a decoder's answer to a valid batch, or None."""
    if "rejected" in answer:
        return f"rejected as {answer['rejected']} at {answer.get('offset')}: {answer.get('message')}"
    try:
        return difference(golden, normalised(answer))
    except NotAMeaning as error:
        return str(error)


def fault_in_rejection(fault, data, answer):
    """What is wrong with a decoder's answer to an invalid batch, or None."""
    if "rejected" not in answer:
        return f"accepted, where {fault['code']} at {fault['offset']} was due: {fault['why']}"
    if answer["rejected"] != fault["code"]:
        got = f"{answer['rejected']} at {answer.get('offset')}: {answer.get('message')}"
        return f"expected {fault['code']} at {fault['offset']}, got {got}"
    if type(answer.get("offset")) is not int or answer["offset"] < 0:
        return f"{answer.get('offset')!r} is no offset"
    return None if answer.get("message") else "a rejection without a sentence"


class Vectors:
    def __init__(self, pattern):
        self.index = json.loads((HERE / "index.json").read_text()) | json.loads((HERE / "hostile.json").read_text())
        self.valid = self.load("valid", pattern) | self.load("hostile", pattern)
        self.invalid = self.load("invalid", pattern)
        self.meanings = {name: normalised(meaning) for name, (_, meaning) in self.valid.items()}
        self.encodable = [name for name in self.valid if self.index[name]["encode"] != "no"]

    @staticmethod
    def load(folder, pattern):
        files = sorted((HERE / folder).glob("*.llb"))
        return {
            f.stem: (f.read_bytes(), json.loads(f.with_suffix(".json").read_text()))
            for f in files
            if fnmatch.fnmatch(f.stem, pattern)
        }


def produce(adapters, vectors, failures):
    """What each producer makes of each valid vector: {producer: {name: bytes}}."""
    produced = {"golden": {name: data for name, (data, _) in vectors.valid.items()}}
    lines = b"".join(json.dumps(vectors.valid[name][1]).encode() + b"\n" for name in vectors.encodable)
    for producer, adapter in adapters.items():
        where = f"{producer} encode"
        batches = run_stream(adapter["encode"], lines, unframed, len(vectors.encodable), where, failures)
        produced[producer] = dict(zip(vectors.encodable, batches or []))
        for name, batch in produced[producer].items():
            golden = vectors.valid[name][0]
            if not batch:
                failures.add(f"{where} {name}", "refused")
            elif vectors.index[name]["encode"] == "identical" and batch != golden:
                at = next((n for n, (a, b) in enumerate(zip(batch, golden)) if a != b), min(len(batch), len(golden)))
                failures.add(f"{where} {name}", f"{len(batch)} bytes for {len(golden)}, the first difference at {at}")
        produced[producer] = {name: batch for name, batch in produced[producer].items() if batch}
    return produced


def consume(consumer, command, produced, vectors, failures):
    cases = [(producer, name, batch) for producer, batches in produced.items() for name, batch in batches.items()]
    messages = [batch for _, _, batch in cases] + [data for data, _ in vectors.invalid.values()]
    answers = run_stream(command, frames(messages), json_lines, len(messages), f"{consumer} decode", failures)
    if answers is None:
        return 0
    for (producer, name, _), answer in zip(cases, answers):
        if wrong := fault_in_meaning(vectors.meanings[name], answer):
            failures.add(f"{producer} -> {consumer} {name}", wrong)
    for (name, (data, fault)), answer in zip(vectors.invalid.items(), answers[len(cases) :]):
        if wrong := fault_in_rejection(fault, data, answer):
            failures.add(f"invalid -> {consumer} {name}", wrong)
    return len(messages)


def refused_meanings():
    """By name, the meanings that differ from a golden one in one place, as refused.json lists them."""
    listed = json.loads((HERE / "refused.json").read_text())
    golden = (HERE / "valid" / f"{listed['meaning']}.json").read_text()
    meanings = {}
    for change in listed["changes"]:
        meanings[change["name"]] = part = json.loads(golden)
        *outer, last = change["path"]
        for step in outer:
            part = part[step]
        if "value" in change:
            part[last] = change["value"]
        elif "repeat" in change:
            text, times = change["repeat"]
            part[last] = text * times
        else:
            del part[last]
    return meanings


def check_refusals(language, command, meanings, failures):
    lines = b"".join(json.dumps(meaning).encode() + b"\n" for meaning in meanings.values())
    where = f"{language} encode"
    batches = run_stream(command, lines, unframed, len(meanings), where, failures)
    for name, batch in zip(meanings, batches or []):
        if batch:
            failures.add(f"{where} {name}", f"made {len(batch)} bytes of what is no meaning of a batch")


def check_command_line(language, adapter, failures):
    """What scripts rely on: status 0 with the result, 1 with a rejection, 2 with the usage."""
    valid = (HERE / "valid/table1.llb").read_bytes()
    done = run(adapter["decode"], valid)
    if done.returncode != 0 or json_lines(done.stdout.replace(b"\n", b" ")) is None:
        failures.add(f"{language} decode", f"exit {done.returncode} for a valid batch")
    done = run(adapter["encode"], (HERE / "valid/table1.json").read_bytes())
    if done.returncode != 0 or done.stdout != valid:
        failures.add(f"{language} encode", f"exit {done.returncode} and {len(done.stdout)} bytes for a valid meaning")
    done = run(adapter["decode"], (HERE / "invalid/crc.llb").read_bytes())
    message = done.stderr.decode(errors="replace")
    if done.returncode != 1 or done.stdout or not re.match(r"rejected: bad_crc at [0-9]+: .", message):
        failures.add(f"{language} decode", f"exit {done.returncode} for a bad CRC, message {message.strip()!r:.120}")
    for verb in ("decode", "encode"):
        if (status := run([*adapter[verb], "--no-such-option"], b"").returncode) != 2:
            failures.add(f"{language} {verb}", f"exit {status} for an unknown option")
        done = run([*adapter[verb], "--help"], b"")
        if done.returncode != 0 or not done.stdout:
            failures.add(f"{language} {verb}", f"exit {done.returncode} for --help")


def check_annotations(failures):
    """Every byte of an annotated dump, in order, is the file's: rows `| offset | hex | meaning |`."""
    dumps = sorted((HERE / "valid").glob("*.hex.md"))
    for dump in dumps:
        data = (HERE / "valid" / dump.name.replace(".hex.md", ".llb")).read_bytes()
        at = 0
        for offset, digits in re.findall(r"^\| *(\d+) *\| *`([0-9a-f ]+)` *\|", dump.read_text(), re.MULTILINE):
            part = bytes.fromhex(digits)
            if int(offset) != at or data[at : at + len(part)] != part:
                failures.add(dump.name, f"the row at {offset} is not what the file holds at {at}")
                break
            at += len(part)
        else:
            if at != len(data):
                failures.add(dump.name, f"explains {at} bytes of {len(data)}")
    return len(dumps)


def present_adapters(listed, allow_missing, failures):
    adapters = json.loads(listed.read_text())
    for language in list(adapters):
        missing = [path for path in adapters[language]["needs"] if not (ROOT / path).exists()]
        if not missing:
            continue
        del adapters[language]
        if allow_missing:
            print(f"skipped {language}: not built ({', '.join(missing)})")
        else:
            failures.add(language, f"not built: {', '.join(missing)}")
    if not adapters:
        failures.add("adapters", "no codec is built")
    return adapters


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="GLOB", default="*", help="only the vectors whose names match")
    parser.add_argument("--allow-missing", action="store_true", help="skip codecs that are not built")
    parser.add_argument("--adapters", metavar="FILE", type=Path, default=HERE / "adapters.json", help="other codecs")
    arguments = parser.parse_args()

    failures = Failures()
    vectors = Vectors(arguments.only)
    if not vectors.valid and not vectors.invalid:
        sys.exit(f"no vector is named like {arguments.only!r}")
    adapters = present_adapters(arguments.adapters, arguments.allow_missing, failures)
    produced = produce(adapters, vectors, failures)
    refused = {n: m for n, m in refused_meanings().items() if fnmatch.fnmatch(n, arguments.only)}
    answers = 0
    for consumer, adapter in adapters.items():
        answers += consume(consumer, adapter["decode"], produced, vectors, failures)
        check_refusals(consumer, adapter["encode"], refused, failures)
        check_command_line(consumer, adapter, failures)
    annotated = check_annotations(failures)

    pairs = len(produced) * len(adapters)
    print(f"producers: {', '.join(produced)}; consumers: {', '.join(adapters) or '-'}")
    print(f"answers={answers} refusals={len(refused) * len(adapters)} annotated={annotated}")
    print(f"vectors: valid={len(vectors.valid)} invalid={len(vectors.invalid)} pairs={pairs} failed={failures.count}")
    sys.exit(1 if failures.count else 0)


if __name__ == "__main__":
    main()
