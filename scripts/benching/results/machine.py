"""The machine of a measurement in a sentence."""


def sentence(measurement):
    m = measurement["machine"]
    kind = "virtual, " if m["virtual"] else ""
    return (f"{m['cpu']} ({kind}{m['cores']} cores, {m['memory_gb']} GB), {m['system']}, {m['cc']}, {m['measured']}, "
            f"commit {m['commit']}")
