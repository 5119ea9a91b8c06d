package study

import (
	"fmt"
	"maps"
	"slices"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

// changesPage has every figure that corrections changed, before and after. Records hold both times of each run, so the page is
// made of them like all others.
func changesPage(p *page) error {
	p.say("\nUntil November 2026 these pages counted round trips from the actual send, as the paper did. A client or machine that stands still " +
		"then hides the delay of the messages behind; now RTT begins when a message was due, and the time from the actual send is the service time. " +
		"Until then a point was one run of minutes; now it is at least five short runs in random order, on another machine of the same kind, so a figure " +
		"that changed has changed for all three reasons. The second table tells the first reason from the others: it has both times of the same messages.")
	p.say("\n## What pages said, and what they say")
	p.table(4, []string{"what", "before", "now", "why"}, append(p.judgements(), corrections...))
	p.say("\n## Each point: service time and RTT")
	p.paragraph("What the points would say by the old definition and what they say by the new one, of the same messages of the same runs, medians of the runs in ms; " +
		"*more* is by how much RTT is above the service time at p99.8.")
	var rows [][]string
	for _, id := range slices.Sorted(maps.Keys(p.records)) {
		r := p.records[id]
		if !r.measured() || r.Times.ServiceTime.Count == 0 {
			continue
		}
		service := r.as(serviceTime)
		both := func(percent float64) []string {
			return []string{format.Millis(service.middle(rtt(percent))), format.Millis(r.middle(rtt(percent)))}
		}
		more := format.Percent(r.middle(rtt(99.8))/service.middle(rtt(99.8)) - 1)
		rows = append(rows, slices.Concat([]string{"`" + id + "`"}, both(50), both(99.8), []string{more}, both(100)))
	}
	p.table(1, []string{"point", "p50, service", "RTT", "p99.8, service", "RTT", "more", "greatest, service", "RTT"}, rows)
	return nil
}

// published is what these pages said of aims and overhead on 22 November 2026, by service time and from one run each.
var published = map[string]string{
	"single-nats-19800":  "0 lost, p99.8 3.78 ms: yes",
	"cluster-six-100000": "0 lost, p99.8 19.8 ms, client 4.12 kB: yes",
	"single-kafka-19000": "0 lost, p99.8 10.4 ms: yes",
	"overhead-fleet":     "p50 303 µs against 308 µs, -1.74 %: yes",
}

// judgements are aims and overhead as they were published, and as RTT and the runs of today judge them.
func (p *page) judgements() [][]string {
	const why = "RTT from when a message was due; five short runs instead of one; another machine"
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
	c := Compare(bare, fleet, rtt(percent))
	if c.Before.Median == 0 {
		return ""
	}
	return fmt.Sprintf("%s against %s: %s times", c.After.Text(format.Duration), c.Before.Text(format.Duration), ratio(c))
}

// corrections are those of what was said beside figures.
var corrections = [][]string{
	{"Table II, test 1", "UDP without any acknowledgement", "UDP acknowledged by AUTO_ACKNOWLEDGE", "the paper says so; MQTT QoS 0 and Kafka acks=0 promise less"},
	{"Table II, test 2", "Kafka acks=1, MQTT QoS 1", "not measured", "CLIENT_ACKNOWLEDGE is the consumer's acknowledgement; acks=1 is the broker's to the producer"},
	{"Table III", "limits \"from the study's own grades\"", "limits are ours", "the paper gives no rule; 1.5 times for scalable is our choice"},
	{"Table III, scalability of NATS", "judged where publisher and subscriber share a node", "on the slowest topology", "between nodes a message takes longer; the paper's Figure 5 is that"},
	{"Figure 5", "no section", "followed and drawn", "publishing and subscribing brokers are different nodes there"},
	{"Figure 7", "\"the study's Figure 7\"", "the paper's \"smooth increase\" is quoted beside ours", "points at one message rate tell connections from rate"},
	{"Figure 10", "one connection", "one for each generator, more messages", "the paper had 50 to 200 connections; 300 messages give no p99.8"},
	{"Figures 12 and 14", "one curve of 1,000, all on one node", "several, on one node and on three", "the caption claimed more than was there"},
	{"Figure 13", "named in a title, not there", "CPU idle and memory, one node and three", "it was missing"},
	{"Figure 15", "R-GMA's PT \"seconds long\"", "\"very long\"", "the text gives no number"},
	{"bytes between nodes", "\"protocol included\"", "payload only", "the servers count payload"},
	{"Section III.F.1", "generators wait for subscriptions", "with and without waiting", "waiting removes the effect that the paper saw"},
	{"payload", "132 bytes, \"the study's message\"", "a range of 132 to 672 bytes", "the paper does not give the length of its strings"},
}
