package study

import (
	"strings"

	"lifeline/loadgen/format"
)

var warmUpRows = []struct{ id, name, why string }{
	{"warm-up-nats", "core NATS", "A subscription is in force when the server has answered a PING behind it, and a message goes to the current subscribers when it arrives; there is nothing else to look up."},
	{"warm-up-jetstream", "JetStream, 1 replica", "The stream keeps messages whether a consumer is there yet or not."},
	{"warm-up-mqtt", "MQTT QoS 1", "SUBACK says when the subscription is in force; what is not acknowledged is sent again."},
	{"warm-up-kafka", "Kafka acks=1", "The topic keeps messages, and the consumer begins at the offset where the topic ended when it subscribed; what is published before a client knows who leads the partition waits in the client."},
}

func warmUpPage(p *page) error {
	p.say("400 generators publish at once, without the sleep of 10 to 20 s: R-GMA lost 124 of 72,000 messages (0.17 %%), probably "+
		"because a producer first had to find its consumers. First delivery: from a generator's first publish to its arrival, in ms, while all 400 publish "+
		"their first message and the broker has just been started. %s", paperSource)
	rows := [][]string{{"R-GMA (the study)", "72,000", "124 (0.17 %)", "", "", "", "", ""}}
	none := true
	for _, row := range warmUpRows {
		r, ok := p.record(row.id)
		if !ok {
			continue
		}
		if !r.measured() {
			rows = append(rows, []string{row.name, ending(r), "", "", "", "", r.Form, ""})
			continue
		}
		first := r.Times.FirstDelivery
		none = none && r.Counts.Lost == 0
		rows = append(rows, []string{row.name, format.Count(r.Counts.Sent), lost(r), at(first, 50), at(first, 99), at(first, 100), r.Form, quiet(r)})
	}
	if len(rows) == 1 {
		return nil
	}
	p.table(1, []string{"", "messages", "lost", "first delivery p50", "p99", "p100", "form", "quiet"}, rows)
	if none {
		p.paragraph("None was lost, and that is no luck:")
	} else {
		p.paragraph("What should keep messages from being lost here:")
	}
	var why []string
	for _, row := range warmUpRows {
		if len(p.measured(row.id)) > 0 {
			why = append(why, "- "+row.name+": "+row.why)
		}
	}
	p.paragraph("%s", strings.Join(why, "\n"))
	p.paragraph("The study asks a middleware to locate a resource within a time limit, else data is lost. First delivery is that time " +
		"here, with all that a client has to find out before its first message.")
	return nil
}
