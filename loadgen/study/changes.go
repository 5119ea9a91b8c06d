package study

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
	"lifeline/loadgen/spread"
)

// changesPage has every figure that corrections changed, before and after. Records hold both times of each run, so the page is
// made of them like all others.
func changesPage(p *page) error {
	p.say("\nUntil November 2026 these pages counted round trips from the actual send, as the paper did. A client or machine that stands still " +
		"then hides the delay of the messages behind; now RTT begins when a message was due, and the time from the actual send is the service time.")
	p.say("\n## What pages said, and what they say")
	p.table(4, []string{"what", "before", "now", "why"}, append(p.judgements(), corrections...))
	p.say("\n## Each point")
	p.paragraph("In ms. *Before* is what the pages of 22 November 2026 gave: the service time of one run. *Now* are the runs of today, median and range, " +
		"by the same definition and by the new one. Three things changed in the method: RTT counts from when a message was due; five short runs " +
		"stand in for one of a minute or more, so there is a range; and generators publish more often, so that a short run has enough messages. " +
		"The fourth is the day: *moved* is whether the figure published lies outside the range of today's service times. ≤: no " +
		"run was valid, for the reasons that the points' pages give.")
	var rows [][]string
	var added []string
	for _, id := range slices.Sorted(maps.Keys(p.records)) {
		r := p.records[id]
		if !r.measured() || r.Times.ServiceTime.Count == 0 {
			continue
		}
		was, ok := before[id]
		if !ok {
			added = append(added, "`"+id+"`")
			continue
		}
		cells := []string{"`" + id + "`", was.method, r.runs()}
		for i, percent := range []float64{50, 99.8} {
			service := r.as(serviceTime).Spread(rtt(percent))
			cells = append(cells, format.Millis(was.at[i]))
			cells = append(cells, r.bound(service.Text(format.Millis), r.millis(rtt(percent)))...)
			cells = append(cells, moved(was.at[i], service))
		}
		rows = append(rows, cells)
	}
	p.table(3, []string{"point", "before", "now", "p50 before", "service time now", "RTT now", "moved", "p99.8 before", "service time now", "RTT now",
		"moved"}, rows)
	p.paragraph("New, without a figure before: %s.", strings.Join(added, ", "))
	return nil
}

func moved(before float64, now spread.Spread) string {
	switch {
	case before > now.Most:
		return "down"
	case before < now.Least:
		return "up"
	}
	return "no"
}

// earlier is what pages said of a point: how it was measured, and p50 and p99.8 in ns.
type earlier struct {
	method string
	at     [2]float64
}

//go:embed before.tsv
var beforeText string

// before are the points as the pages of 22 November 2026 had them.
var before = func() map[string]earlier {
	all := map[string]earlier{}
	for line := range strings.Lines(beforeText) {
		var id, interval, duration string
		var e earlier
		if _, err := fmt.Sscan(line, &id, &interval, &duration, &e.at[0], &e.at[1]); err != nil {
			panic("before.tsv: " + line)
		}
		e.method = "1 run of " + duration + ", every " + interval
		all[id] = e
	}
	return all
}()

// published is what these pages said of aims and overhead on 22 November 2026, by service time and from one run each.
var published = map[string]string{
	"single-nats-19800":  "0 lost, p99.8 3.78 ms: yes",
	"cluster-six-100000": "0 lost, p99.8 19.8 ms, client 4.12 kB: yes",
	"single-kafka-19000": "0 lost, p99.8 10.4 ms: yes",
	"overhead-fleet":     "p50 303 µs against 308 µs, -1.74 %: yes",
}

// judgements are aims and overhead as they were published, and as RTT and the runs of today judge them.
func (p *page) judgements() [][]string {
	const why = "RTT from when a message was due; five short runs instead of one; another day and machine"
	var rows [][]string
	for _, aim := range aims {
		r, ok := p.records[aim.point]
		before, changed := published[aim.point]
		if !ok || !changed || !r.measured() {
			continue
		}
		now, met := aim.judge(r)
		rows = append(rows, []string{aim.what + ": " + aim.aim, before, fmt.Sprintf("%s: %s (service time p99.8 %s)", now, verdict(met, r.Valid),
			r.as(serviceTime).Spread(rtt(99.8)).Text(format.Duration)), why})
	}
	for _, broker := range graded {
		if grades, _ := (&page{records: p.records}).grades(broker); grades[0] != unknown {
			rows = append(rows, []string{"Table III: " + broker.name, "very good; very good; very good", fmt.Sprintf("%s; %s; %s", grades[0], grades[1], grades[2]),
				"the network is judged on its slowest topology, against the noise of the runs"})
		}
	}
	bare, ok := p.records["overhead-bare"]
	fleet, okToo := p.records["overhead-fleet"]
	if ok && okToo {
		rows = append(rows, []string{"overhead of the harness, p50", published["overhead-fleet"], overhead(bare, fleet, 50), why},
			[]string{"overhead of the harness, p99.8", "not given", overhead(bare, fleet, 99.8), "it was claimed for p50 only"})
	}
	return rows
}

func serviceTime(m Measured) result.Distribution { return m.Times.ServiceTime }

// overhead compares the fleet's time with that of the bare client.
func overhead(bare, fleet Record, percent float64) string {
	a, b := bare.Spread(rtt(percent)), fleet.Spread(rtt(percent))
	if a.Median == 0 {
		return ""
	}
	return fmt.Sprintf("%s against %s, %s times", b.Text(format.Duration), a.Text(format.Duration), ratio(Compare(bare, fleet, rtt(percent))))
}

// corrections are those of what was said beside figures.
var corrections = [][]string{
	{"Table II, test 1", "UDP without any acknowledgement", "UDP acknowledged by AUTO_ACKNOWLEDGE", "the paper says so; MQTT QoS 0 and Kafka acks=0 promise less"},
	{"Table II, test 2", "Kafka acks=1, MQTT QoS 1", "JetStream, acknowledged by the subscriber", "CLIENT_ACKNOWLEDGE is the consumer's acknowledgement; acks=1 is the broker's to the producer"},
	{"Table III", "limits \"from the study's own grades\"", "limits are ours", "the paper gives no rule; 1.5 times for scalable is our choice"},
	{"Table III, scalability of NATS", "judged where publisher and subscriber share a node", "on the slowest topology", "between nodes a message takes longer; the paper's Figure 5 is that"},
	{"Figure 5", "no section", "followed and drawn", "publishing and subscribing brokers are different nodes there"},
	{"Figure 7", "\"the study's Figure 7\"", "the paper's \"smooth increase\" is quoted and tested for", "points at one message rate tell connections from rate"},
	{"Figure 10", "one connection", "one for each generator, more messages", "the paper had 50 to 200 connections; 300 messages give no p99.8"},
	{"Figures 12 and 14", "one curve of 1,000, all on one node", "several, on one node and on three", "the caption claimed more than was there"},
	{"Figure 13", "named in a title, not there", "CPU idle and memory, one node and three", "it was missing"},
	{"Figure 15", "R-GMA's PT \"seconds long\"", "\"very long\"", "the text gives no number"},
	{"bytes between nodes", "\"protocol included\"", "payload only", "the servers count payload"},
	{"Section III.F.1", "generators wait for subscriptions", "with and without waiting", "waiting removes the effect that the paper saw"},
	{"payload", "132 bytes, \"the study's message\"", "a range of 132 to 672 bytes", "the paper does not give the length of its strings"},
}
