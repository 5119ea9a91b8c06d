package study

import (
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
)

// phasePictures are the points whose round trips are taken apart. Consumers that ask have a picture of their own: beside their
// 50 ms nothing else would be seen.
var phasePictures = []struct {
	file, title string
	rows        []struct{ id, name string }
}{
	{"figure-15.svg", "Round trips, taken apart", []struct{ id, name string }{
		{"table2-nats", "core NATS"},
		{"table2-mqtt-qos0", "MQTT QoS 0"},
		{"table2-mqtt-qos1", "MQTT QoS 1"},
		{"table2-jetstream-r1", "JetStream, 1 replica"},
		{"table2-jetstream-r3", "JetStream, 3 replicas"},
		{"table2-kafka-acks1", "Kafka acks=1"},
		{"table2-kafka-all", "Kafka acks=all, 1 replica"},
		{"table2-kafka-transaction", "Kafka, transactions"},
	}},
	{"figure-15-polled.svg", "Round trips to consumers that ask every 100 ms", []struct{ id, name string }{
		{"poll-jetstream-600", "JetStream, polled"},
		{"poll-kafka-600", "Kafka, polled"},
		{"poll-postgres-600", "PostgreSQL, polled"},
	}},
}

func phasesPage(p *page) error {
	p.section("Figure 15", "RTT decomposition")
	p.here("The same three parts; their sum is the service time, and RTT begins when the message was due. Means in ms, of all runs together; PT of each message that had " +
		"arrived after its publishing call returned, or before it (negative).")
	var rows [][]string
	figures := make([]plot.Spans, len(phasePictures))
	for i, picture := range phasePictures {
		var names []string
		var drawn []result.Result
		for _, row := range picture.rows {
			for _, r := range p.measured(row.id) {
				t := r.Times
				rows = append(rows, []string{row.name, format.Millis(t.PRT.Mean), format.Millis(t.PT.Mean), format.Millis(t.SRT.Mean),
					format.Millis(t.ServiceTime.Mean), format.Millis(t.RTT.Mean), negative(t.PT), acknowledged(r), r.runs(), valid(r)})
				names, drawn = append(names, row.name), append(drawn, r.Result)
			}
		}
		figures[i] = report.Decomposition(picture.title, names, drawn)
	}
	if len(rows) == 0 {
		p.missing()
		return nil
	}
	p.table(1, []string{"here", "PRT", "PT", "SRT", "service time", "RTT", "PT below zero", "acknowledged p50", "runs", "valid"}, rows)
	for i, figure := range figures {
		if len(figure.Rows) == 0 {
			continue
		}
		if err := p.picture(phasePictures[i].file, figure.Title, figure.SVG()); err != nil {
			return err
		}
	}
	p.differs("The publishing call of core NATS, of MQTT QoS 0 and of both brokers' asynchronous clients returns when the message has been copied " +
		"into a buffer, so their PRT says nothing about the broker, and PT is sending, the broker and receiving. PRT of a transaction or an INSERT " +
		"contains the broker's answer. SRT is what the client library needs from the read of a socket to the callback. Where a consumer asks every 100 ms, PT is the wait for the next question.")
	p.paragraph("PT may be negative: the publishing thread is not the one that receives, and on two cores the message can be back at the " +
		"subscriber before the publisher's call has returned. RTT does not depend on it.")
	return nil
}

func negative(d result.Distribution) string {
	if d.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s", format.Count(d.Negative), format.Count(d.Count))
}
