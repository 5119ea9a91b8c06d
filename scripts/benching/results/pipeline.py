"""What scripts/bench measured: decoding, archive and stream jobs, one document per figure."""

from .machine import sentence

AIM = "at least {} {}"


def summary(documents):
    aimed = [m for m in documents if m["aim"]]
    met = sum(m["value"] >= float(m["aim"]) for m in aimed)
    slowest = {broker: next((m for m in documents if m["name"] == f"{broker}-archive"), None) for broker in ("nats", "kafka")}
    stored = ", ".join(f"{m['value']:.1f} {m['unit']} from {m['what'].split(':')[0]} into Parquet" for m in slowest.values() if m)
    return stored, f"{met} of {len(aimed)} met"


def line(m):
    floor = f"{m['floor']:,.2f} {m['unit']}" if m["floor"] else ""
    ratio = f"{m['ratio_to_floor']:.2f}" if m["floor"] else ""
    met = ("met" if m["value"] >= float(m["aim"]) else "**missed**") if m["aim"] else ""
    aim = AIM.format(m["aim"], m["unit"]) if m["aim"] else ""
    return f"| {m['what']} | {m['value']:,.2f} {m['unit']} | {floor} | {ratio} | {aim} | {met} | {m['sentence']} |"


def page(documents):
    taken = max(m["share_of_cpu_taken_by_others"] for m in documents)
    return "\n".join([
        "# Decoding, archive and stream jobs", "",
        "| what | measured | floor in the same run | ratio | aim | | where the time goes |",
        "| --- | ---: | ---: | ---: | --- | --- | --- |", *map(line, documents), "", "Floors:", "",
        *[f"- {m['what']}: {m['floor_is']}" for m in documents if m["floor"]], "",
        f"Command: `{documents[0]['command']}`. Machine: {sentence(documents[0])}; background load at most {taken:.0%} of the "
        "processors, the other processes of the same test included.", ""])
