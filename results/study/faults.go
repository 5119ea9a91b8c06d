package study

import (
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
)

var faultRows = []struct{ id, name string }{
	{"faults-jetstream", "JetStream, 3 nodes, 3 replicas"},
	{"faults-kafka", "Kafka acks=all, 3 brokers, 3 replicas"},
}

func faultsPage(p *page) error {
	p.say("\n5,000 generators, each with a connection to one of three nodes; one node is killed (SIGKILL) in the middle and started again. " +
		"What the broker acknowledged must arrive. Seconds since the first message; recovered: when deliveries were at nine tenths of " +
		"the rate before and none was held up any more. Lost and failed are of the whole run, among them those whose connection died before they were acknowledged. " +
		"Duplicated: the minimal Kafka client is not idempotent; what its dead leader had not acknowledged it sends to the next one, which may have it.")
	var rows [][]string
	for _, row := range faultRows {
		r, ok := p.record(row.id)
		if !ok {
			continue
		}
		if len(r.Faults) == 0 {
			rows = append(rows, []string{row.name, ending(r), "", "", "", "", "", "", "", "", r.runs(), ""})
			continue
		}
		for _, f := range r.Faults {
			rows = append(rows, []string{row.name, format.Count(r.Counts.Sent), format.Count(r.Counts.Acknowledged),
				format.Count(r.Counts.LostAcknowledged), format.Count(r.Counts.Lost), format.Count(r.Counts.Failed),
				format.Count(r.Counts.Duplicated), format.Number(f.At), recovery(f), silence(f), r.runs(), quiet(r)})
		}
	}
	p.table(1, []string{"here", "sent", "acknowledged", "of these lost", "lost in all", "failed", "duplicated", "killed at s", "recovery",
		"longest silence s", "runs", "quiet"}, rows)
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

func recovery(f result.Outage) string {
	switch seconds, ok := f.Recovery(); {
	case !ok:
		return "not before the end"
	case seconds < 0.1:
		return "deliveries did not fall"
	default:
		return fmt.Sprintf("recovered after %s s", format.Number(seconds))
	}
}

func silence(f result.Outage) string {
	seconds, ended := f.Silence()
	if !ended {
		return "to the end"
	}
	return format.Number(seconds)
}
