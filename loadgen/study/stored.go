package study

import (
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/study/stored"
)

// storedQueries are the successors of R-GMA's latest and history queries.
func storedQueries(p *page) {
	var rows [][]string
	var notes []string
	for _, row := range []struct{ id, name string }{{"stored-jetstream", "JetStream"}, {"stored-kafka", "Kafka"}} {
		r, ok := p.record(row.id)
		if !ok {
			continue
		}
		for _, what := range []string{stored.Latest, stored.LatestAge, stored.History} {
			d := r.Beside[what]
			if d.Count == 0 {
				continue
			}
			rows = append(rows, []string{row.name, what, format.Count(d.Count), format.Millis(d.Mean), format.Millis(d.StdDev), at(d, 50),
				at(d, 95), at(d, 99), at(d, 100), r.runs(), valid(r)})
		}
		for _, remark := range r.Remarks {
			if strings.Contains(remark, "history queries") {
				notes = append(notes, row.name+": "+remark+".")
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	p.say("\n## Beyond the paper: latest and history queries")
	p.paper("Latest and history")
	p.here("While 600 generators publish, one client asks 10 times a second for the newest " +
		"message, and once a second for all messages of the last minute (or of the run so far, where that is shorter). Times in ms, over connections that stay open. JetStream answers the first question itself, and " +
		"makes a consumer for the second; of Kafka the client asks where the topic ends, or was a minute ago, sets its own consumer there and reads.")
	p.table(2, []string{"broker", "", "queries", "mean", "STDDEV", "p50", "p95", "p99", "p100", "runs", "valid"}, rows)
	p.paragraph("%s", strings.Join(notes, " "))
	p.paragraph("A part of an answer's age is the time since the last message: at 600 messages per second that come at random 1.7 ms on average. " +
		"The rest is the message's way and the query's.")
}
