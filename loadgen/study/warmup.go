package study

import (
	"slices"
	"strings"

	"lifeline/loadgen/format"
)

// warmUpRows are the points that publish at once: with subscriptions in force before, and with subscribers that start together
// with the generators.
var warmUpRows = []struct{ id, name, why string }{
	{"nats", "core NATS", "the server answers a PING behind the subscription, so the client knows when it is in force; a message before that goes to nobody."},
	{"jetstream", "JetStream, 1 replica", "the stream keeps messages in either case; the fleet's subscriber begins at the stream's end as it finds it, so " +
		"what was stored before does not arrive unless it asks for it."},
	{"mqtt", "MQTT QoS 1", "SUBACK says when the subscription is in force; a message before that goes to nobody, acknowledged or not."},
	{"kafka", "Kafka acks=1", "the topic keeps messages; the consumer begins at the offset where the topic ended when it subscribed."},
}

func warmUpSection(p *page) error {
	p.section("Section III.F.1", "publishing without a warm-up")
	p.here("400 generators publish at once, without the sleep of 10 to 20 s, to a broker that has just been started; twice: after all " +
		"subscriptions are in force (*waits*), and with subscribers that start at the same moment (*together*), which is closer to the paper's " +
		"test: there nobody knew whether a producer had found its consumer. First delivery: from a generator's first publish to its arrival, in ms.")
	rows := [][]string{padded(10, "R-GMA (the paper)", "together", paperSays("Section III.F.1, sent"), paperSays("Section III.F.1, loss"))}
	for _, row := range warmUpRows {
		for _, start := range []struct{ name, point string }{{"waits", "warm-up-"}, {"together", "together-"}} {
			r, ok := p.record(start.point + row.id)
			switch {
			case !ok:
				rows = append(rows, padded(10, row.name, start.name, "not measured yet"))
			case !r.measured():
				rows = append(rows, padded(10, row.name, start.name, ending(r)))
			default:
				first := r.Times.FirstDelivery
				rows = append(rows, slices.Concat([]string{row.name, start.name, format.Count(r.Counts.Sent), lost(r), format.Count(r.Counts.Away)},
					r.bound(at(first, 50), at(first, 99), at(first, 100)), []string{r.runs(), valid(r)}))
			}
		}
	}
	p.table(2, []string{"", "start", "messages", "lost", "of these before a subscription", "first delivery p50", "p99", "p100", "runs", "valid"}, rows)
	var why []string
	for _, row := range warmUpRows {
		why = append(why, "- "+row.name+": "+row.why)
	}
	p.paragraph("What decides between lost and not:\n\n%s", strings.Join(why, "\n"))
	p.differs("The paper's generators found their consumer through a registry; here a topic's name is all that both have to know. First delivery " +
		"is the time that it takes here, with all that a client has to find out before its first message.")
	return nil
}
