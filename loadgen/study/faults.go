package study

import (
	"fmt"
	"slices"

	"lifeline/loadgen/format"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
	"lifeline/loadgen/spread"
)

var faultRows = []struct{ id, name string }{
	{"faults-jetstream", "JetStream, 3 nodes, 3 replicas"},
	{"faults-kafka", "Kafka acks=all, 3 brokers, 3 replicas"},
}

func faultsPage(p *page) error {
	p.say("\n5,000 generators, each with a connection to one of three nodes; one node is killed (SIGKILL) in the middle and started again. " +
		"What the broker acknowledged must arrive. Seconds since the first message; recovery and silence are medians of the runs with their range, pictures show the first run. Recovered: when deliveries were at nine tenths of " +
		"the rate before and none was held up any more. Lost and failed are of the whole run, among them those whose connection died before they were acknowledged. " +
		"Duplicated: the minimal Kafka client is not idempotent; what its dead leader had not acknowledged it sends to the next one, which may have it.")
	var rows [][]string
	for _, row := range faultRows {
		r, ok := p.record(row.id)
		if !ok {
			continue
		}
		if len(r.Faults) == 0 {
			rows = append(rows, padded(12, row.name, ending(r)))
			continue
		}
		rows = append(rows, slices.Concat([]string{row.name, format.Count(r.Counts.Sent), format.Count(r.Counts.Acknowledged),
			format.Count(r.Counts.LostAcknowledged), format.Count(r.Counts.Lost), format.Count(r.Counts.Failed), format.Count(r.Counts.Duplicated),
			format.Number(r.Faults[0].At)}, r.bound(outages(r, result.Outage.Recovery), outages(r, result.Outage.Silence)), []string{r.runs(), valid(r)}))
	}
	p.table(1, []string{"here", "sent", "acknowledged", "of these lost", "lost in all", "failed", "duplicated", "killed at s",
		"recovered after s", "longest silence s", "runs", "valid"}, rows)
	for _, row := range faultRows {
		if r, ok := p.record(row.id); ok && len(r.Timeline) > 1 {
			figure := report.Timeline(r.Result)
			figure.Title = row.name
			if err := p.picture("7-"+row.id+".svg", row.name, figure.SVG()); err != nil {
				return err
			}
		}
	}
	return nil
}

// outages are the seconds of the faults of all runs that count, and how many lasted to the end.
func outages(r Record, of func(result.Outage) (seconds float64, ended bool)) string {
	var all []float64
	unended := 0
	for _, run := range r.used() {
		for _, fault := range run.Faults {
			if seconds, ended := of(fault); ended {
				all = append(all, seconds)
			} else {
				unended++
			}
		}
	}
	text := spread.Of(all).Text(format.Number)
	if unended > 0 {
		text += fmt.Sprintf(" (%d not before the end)", unended)
	}
	return text
}
