package study

import (
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

// aims are what a quiet machine of two cores should reach, each with its judgement.
var aims = []struct {
	what, aim, point string
	judge            func(r Record) (measured string, met bool)
}{
	{"one NATS server, 19,800 dedicated connections", "0 lost, p99.8 under 5 ms", "single-nats-19800", within(5e6)},
	{"6-node NATS, 100,000", "0 lost, p99.8 under 20 ms, client at most 12 kB per connection", "cluster-six-100000",
		func(r Record) (string, bool) {
			measured, met := within(20e6)(r)
			client := r.Resources.Client.PerConnection
			return fmt.Sprintf("%s, client %s kB", measured, kilobytes(client)), met && client <= 12_000
		}},
	{"one Kafka broker, 19,000", "0 lost, p99.8 under 100 ms after warm-up", "single-kafka-19000", within(100e6)},
	{"3-node JetStream R3, a node killed under 5,000 generators", "0 acknowledged lost, recovery time reported", "faults-jetstream", survives},
	{"3-broker Kafka acks=all, a node killed under 5,000 generators", "0 acknowledged lost, recovery time reported", "faults-kafka", survives},
}

// within is met where every run that counts is.
func within(limit float64) func(Record) (string, bool) {
	return func(r Record) (string, bool) {
		at := r.Spread(rtt(99.8))
		return fmt.Sprintf("%s lost, p99.8 %s", lost(r), at.Text(format.Duration)), r.Counts.Lost == 0 && at.Most < limit && !r.Broke()
	}
}

func survives(r Record) (string, bool) {
	return fmt.Sprintf("%s of %s acknowledged lost, recovered after %s s", format.Count(r.Counts.LostAcknowledged),
		format.Count(r.Counts.Acknowledged), outages(r, result.Outage.Recovery)), len(r.Faults) > 0 && r.Counts.LostAcknowledged == 0 && !r.Broke()
}

func indexPage(p *page, contents [][]string) {
	p.say("# The generator fleet: a study of publish/subscribe systems, repeated\n")
	p.say("Written by `make results-fleet` from `data/*.json`, which it measured: each point several times, in random order. Tables give the "+
		"median of the runs, of p50 and p99.8 with their range, and the greatest time of all runs; how many runs there were, how often a generator "+
		"published, and what a row needs to be trusted. Curves are of all runs together. %s", paperSource)
	p.paragraph("Each table and figure of the paper has a section: what the paper did, as facts that a test holds to its text; what we did; where " +
		"we differ and why; a picture with the same axes.")
	p.table(2, []string{"page", "what"}, indexRows())
	p.table(1, []string{"tables and figures of the paper, in its order"}, contents)
	p.say("\n## Aims")
	p.paragraph("RTT is from when a message was due; p99.8 is the median of the runs with their range. An aim is met if every run that counts meets " +
		"it, and the overhead if the 95 %% confidence of its ratio (the median of all pairs of runs) allows no more; one that is missed stays missed, whatever the messages that no stall of the machine touched took.")
	var rows [][]string
	for _, aim := range aims {
		row := padded(6, aim.what, aim.aim, "not measured")
		if r, ok := p.record(aim.point); ok && r.measured() {
			measured, met := aim.judge(r)
			row = []string{aim.what, aim.aim, measured, verdict(met, r.Valid), calmCell(r), r.runs()}
		} else if ok {
			row = padded(6, aim.what, aim.aim, ending(r), "no")
		}
		rows = append(rows, row)
	}
	rows = append(rows, overheadRow(p))
	p.table(6, []string{"", "aim", "measured", "met", "p99.8 without the machine's stalls", "runs"}, rows)
	p.footer()
}

func verdict(met, valid bool) string {
	word := map[bool]string{true: "yes", false: "no"}[met]
	if !valid {
		word += " (no valid run)"
	}
	return word
}

// calmCell is p99.8 of the messages that no stall of the machine touched; nothing where there was none.
func calmCell(r Record) string {
	if !r.stalled() {
		return ""
	}
	return r.Spread(calm(99.8)).Text(format.Duration)
}

func indexRows() [][]string {
	var rows [][]string
	for _, each := range pages {
		rows = append(rows, []string{fmt.Sprintf("[%s](%s)", each.file, each.file), each.title})
	}
	return rows
}
