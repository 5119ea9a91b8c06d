"""results/README.md: what was asked, and the answer, on one screen."""

from . import bottleneck, calipers, figures, fileserver, memcached, paper, pipeline, table1, table2, transfers, triggers


def of_emitter(emitter):
    yield "emitter.md", "What does an event cost?", f"{emitter.ns('emit.burst.1t'):.1f} ns, {emitter.rows['emit.burst.1t']['ratio']:.2f} " \
        "times its floor: a clock read and a store", figures.summary(emitter.document)
    yield "netlogger-table-1.md", "How many events can one thread emit in a second? (NetLogger, Table 1)", \
        f"{table1.rate(emitter, 'emit.burst.1t') / 1e6:.0f} M; the paper {paper.TABLE_1[0][2] / 1e6:.3f} M", ""
    shares = [share for what, threads, _, share in table2.runs(emitter) if threads == 2 and "bursts" in what]
    if shares:
        yield "netlogger-table-2.md", "What do two threads keep of their speed? (Table 2)", f"{shares[0]:.0%} in bursts", ""
    yield "triggers.md", "What does a watched trigger file cost? (section 5)", \
        f"{triggers.cost(emitter.rows['trigger.watched'])}; the paper {1 - paper.WATCHED / paper.UNWATCHED:.0%}", ""
    if calipers.ROW in emitter:
        ns = emitter.rows[calipers.ROW]["details"]["trimmed_mean_ns"]
        yield "calipers.md", "What does a caliper cost? (Kissel et al., IV.A)", f"{ns:.1f} ns; the paper {paper.CALIPER_NS['both']} ns", ""


def jobs_answer(jobs):
    found = {row["name"]: row["per_s_median"] / 1e6 for row in jobs["rows"]}
    return "; ".join(f"{found[name]:.0f} M from {broker}" for name, broker in (("jetstream.summarise", "NATS JetStream"),
                     ("streams.summarise", "Kafka"), ("streams.json", "Kafka as JSON messages, by Kafka Streams")) if name in found)


def scale_answer(scale):
    found = {row["name"]: row["median"] for row in scale["rows"]}
    return "; ".join(f"{found[name]:.2f} s on {broker}" for name, broker in (("answer.sql.nats.1m.p99", "NATS JetStream"),
                     ("answer.sql.kafka.1m.p99", "Kafka")) if name in found) + ", 99th percentile"


def console_answer(console):
    first = {row["name"]: row["median"] / 1e3 for row in console["rows"] if row["name"].startswith("page.first.")}
    return "; ".join(f"{events}: first picture after {first[f'page.first.{name}']:.1f} s"
                     for name, events in (("10m", "10 M"), ("100m", "100 M")) if f"page.first.{name}" in first)


def of_programs(program, served):
    if program is not None:
        measured = memcached.Measured(program)
        yield "memcached.md", "What do two events per request cost memcached?", \
            f"{measured.change('lifeline', 'cpu')} of CPU time each", memcached.summary(program)
    if served is not None:
        yield "netlogger-table-3.md", "What do calipers cost a file server? (Table 3)", fileserver.summary(served), \
            fileserver.count(served)


def rows(emitter, jobs, scale, validation, console, matrix, served, program, bench):
    if emitter is not None:
        yield from of_emitter(emitter)
    yield from of_programs(program, served)
    if bench:
        yield "pipeline.md", "How many events per second are archived?", *pipeline.summary(bench)
    if jobs is not None:
        yield "jobs.md", "How many events per second does the job summarise take?", jobs_answer(jobs), figures.summary(jobs)
    if scale is not None:
        yield "jobs.md#at-scale", "How soon is an event in SQL, beside 1 M events/s?", scale_answer(scale), f"{figures.summary(scale)} (all rows at scale)"
    if console is not None:
        yield "console.md", "How soon does the page show millions of events?", console_answer(console), figures.summary(console)
    if validation is not None:
        yield "bottleneck.md", "How often is the bottleneck of simulated copies named rightly?", bottleneck.summary(validation), ""
    if matrix:
        yield "bottleneck/README.md", "And of real transfers?", transfers.summary(matrix), ""
    yield "fleet/README.md", "How long are round trips of 100,000 generators, and what is lost?", "the study of publish/subscribe systems, " \
        "repeated on NATS and Kafka", ""  # written by make results-fleet


def page(bench, emitter, jobs=None, validation=None, console=None, matrix=None, served=None, program=None, scale=None):
    """`bench`: what scripts/bench measured, one document per figure."""
    return "\n".join([
        "# Results", "", "What was asked, the answer, and how many of the limits that were set before are met. Each page names its command and its "
        "machine, and keeps what was missed. `make results` writes this page anew.", "",
        "| question | answer | limits | page |", "| --- | --- | --- | --- |",
        *[f"| {question} | {answer} | {met} | [{link.partition('.md')[0].removesuffix('/README')}]({link}) |"
          for link, question, answer, met in rows(emitter, jobs, scale, validation, console, matrix, served, program, bench)], ""])
