package study

import (
	"fmt"

	"lifeline/results/study/paper"

	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
)

// mapping says what stands for the study's tests today.
var mapping = [][]string{
	{"1, UDP", "0.06 %", "MQTT QoS 0; Kafka acks=0", "Neither NATS nor Kafka has UDP. What the study's sender got from it is a message that nobody acknowledges; both still send such, over TCP."},
	{"2, UDP with CLIENT_ACKNOWLEDGE", "0.03 %", "MQTT QoS 1; Kafka acks=1", "Each message is acknowledged by itself, by the protocol instead of by the application."},
	{"3, NIO", "0", "NATS over WebSocket; Kafka acks=all", "NIO was the Java broker's other way to serve the same sockets. Kafka's server is built on it; nats-server offers WebSocket as its other way in."},
	{"4, TCP", "0", "core NATS; Kafka acks=all", "The study's recommendation, and the basis of all others here."},
	{"5, Triple: three times the payload at a third of the rate", "0", "the same, on core NATS and Kafka", ""},
	{"6, 80: a tenth of the connections at ten times the rate", "0", "the same, on core NATS and Kafka", ""},
	{"beside the study", "", "TLS; JetStream with one and three replicas; Kafka idempotent, and a transaction per message; Lifeline batches of 1, 10 and 1,000 events", "What today's brokers promise beyond the study's, at its message and rate."},
}

// transportRows are the rows of Table II, in the order of the study's tests.
var transportRows = []struct{ id, test, name string }{
	{"mqtt-qos0", "1", "MQTT QoS 0"},
	{"kafka-acks0", "1", "Kafka acks=0"},
	{"mqtt-qos1", "2", "MQTT QoS 1"},
	{"kafka-acks1", "2", "Kafka acks=1"},
	{"nats-websocket", "3", "NATS over WebSocket"},
	{"kafka-all", "3, 4", "Kafka acks=all, 1 replica"},
	{"nats", "4", "core NATS"},
	{"nats" + paperSuffix, "4", "core NATS, study's timing"},
	{"nats-triple", "5", "core NATS, triple"},
	{"kafka-triple", "5", "Kafka acks=all, triple"},
	{"nats-80", "6", "core NATS, 80 connections"},
	{"kafka-80", "6", "Kafka acks=all, 80 connections"},
	{"nats-tls", "-", "core NATS over TLS"},
	{"jetstream-r1", "-", "JetStream, 1 replica"},
	{"jetstream-r3", "-", "JetStream, 3 replicas"},
	{"kafka-idempotent", "-", "Kafka idempotent"},
	{"kafka-transaction", "-", "Kafka, a transaction per message"},
}

var batchRows = []struct{ id, name string }{
	{"nats", "core NATS, the study's message alone"},
	{"nats-batch-1", "core NATS, batches of 1 event"},
	{"nats-batch-10", "core NATS, of 10"},
	{"nats-batch-1000", "core NATS, of 1,000"},
	{"kafka-all", "Kafka, the study's message alone"},
	{"kafka-batch-1", "Kafka, batches of 1 event"},
	{"kafka-batch-10", "Kafka, of 10"},
	{"kafka-batch-1000", "Kafka, of 1,000"},
}

func transportsPage(p *page) error {
	p.say("800 generators publish the study's message every 10 s (in the quick form every 2 s; tests 5 and 6 in proportion) to an "+
		"embedded broker, one connection each, by the ordinary client libraries; a subscriber with the selector `id < 10000` "+
		"takes all. Kafka's topics have one replica, so acks=all waits for nobody but the leader. Times are of round trips, in ms. %s %s",
		spanNote, paperSource)
	p.say("\n## What stands for the study's tests")
	p.table(4, []string{"study's test", "it lost", "today", "why"}, mapping)
	p.say("\n## Round trips (Figure 3)")
	var rows [][]string
	var bars plot.Spans
	var curves [2][]report.Curve
	for _, row := range transportRows {
		r, ok := p.record("table2-" + row.id)
		if !ok {
			continue
		}
		rows = append(rows, append([]string{row.test, row.name, acknowledged(r)}, timeCells(r)...))
		if r.measured() {
			bars.Rows = append(bars.Rows, plot.Row{Name: row.name, Spans: []plot.Span{{To: r.Times.RTT.Mean}, {To: r.Times.RTT.StdDev}}})
			broker := 0
			if r.Scenario.Transport == "kafka" {
				broker = 1
			}
			curves[broker] = append(curves[broker], report.Curve{Name: row.name, Distribution: r.Times.RTT})
		}
	}
	p.table(2, append([]string{"test", "here", "acknowledged p50"}, timeHead...), rows)
	p.paragraph("%s", transportsSentence(p))
	bars.Title, bars.Subtitle = "RTT and STDDEV by transport", "The study's Figure 3, with today's transports."
	bars.Text, bars.Lanes = format.Tick, []string{"RTT, mean", "STDDEV"}
	if len(bars.Rows) > 0 {
		if err := p.picture("1-rtt.svg", bars.Title, bars.SVG()); err != nil {
			return err
		}
	}
	for i, broker := range []string{"NATS", "Kafka"} {
		if len(curves[i]) == 0 {
			continue
		}
		title := broker + ", percentiles of RTT"
		figure, err := percentiles(title, "The study's Figure 4: within what time the given share of messages made the round trip.",
			curves[i])
		if err != nil {
			return err
		}
		if err := p.picture(fmt.Sprintf("1-percentiles-%s.svg", []string{"nats", "kafka"}[i]), title, figure.SVG()); err != nil {
			return err
		}
	}
	batchTable(p)
	return nil
}

func acknowledged(r Record) string {
	if r.Times.Acknowledged.Count == 0 {
		return ""
	}
	return at(r.Times.Acknowledged, 50)
}

// transportsSentence compares with the study's words, as far as there are rows.
func transportsSentence(p *page) string {
	total, without := 0, 0
	for _, row := range transportRows {
		for _, r := range p.measured("table2-" + row.id) {
			total++
			if r.Counts.Lost == 0 {
				without++
			}
		}
	}
	if total == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d rows lost nothing. The study lost 0.06 %% and 0.03 %% over UDP, where nothing sends a lost datagram again; "+
		"TCP does, so even messages that nobody acknowledges are lost only with their connection, or where a subscriber is too slow.", without, total)
	text += pair(p, "table2-mqtt-qos0", "table2-mqtt-qos1", " The study found acknowledged UDP surprisingly slow; on MQTT an acknowledgement for each message moves the median from %s to %s.")
	text += pair(p, "table2-nats", "table2-nats-triple", " Its performance fell with a large payload; the median of core NATS is %s with one and %s with three times the payload.")
	text += pair(p, "table2-nats", "table2-nats-80", " With a tenth of the connections at ten times the rate it is %s and %s.")
	text += pair(p, "table2-nats", "table2-jetstream-r3", " What is new has its price: %s without any promise, %s when a majority of three nodes has the message first.")
	text += pair(p, "table2-kafka-all", "table2-kafka-transaction", " On Kafka it is %s acknowledged, %s with a transaction around each message.")
	return text
}

// pair fills in the medians of two points; nothing where one is missing.
func pair(p *page, one, other, form string) string {
	both := p.measured(one, other)
	if len(both) < 2 {
		return ""
	}
	return fmt.Sprintf(form, ms(both[0].Times.RTT.At(50)), ms(both[1].Times.RTT.At(50)))
}

func batchTable(p *page) {
	var rows [][]string
	for _, row := range batchRows {
		if r, ok := p.record("table2-" + row.id); ok && r.measured() {
			rows = append(rows, append([]string{row.name, format.Number(r.Bytes.PerMessage), format.Number(r.Bytes.PerEvent)}, timeCells(r)...))
		}
	}
	if len(rows) == 0 {
		return
	}
	p.say("\n## The same message in Lifeline batches")
	p.paragraph("A batch carries what a reader needs to decode it, so one event alone is dear and a thousand are not.")
	p.table(1, append([]string{"here", "bytes per message", "per event"}, timeHead...), rows)
}

const spanNote = "Messages are all that were published; times are of those in the measured span, which begins when all generators have slept " +
	"and, with Kafka, the broker is warm."

const paperSource = "The study: " + paper.Title + "; its curves are pictures that its text does not give, so only what the text says stands beside ours."

// curvesOf names each record's curve.
func curvesOf(records []Record, name func(Record) string) []report.Curve {
	var all []report.Curve
	for _, r := range records {
		all = append(all, report.Curve{Name: name(r), Distribution: r.Times.RTT})
	}
	return all
}

// percentiles draws curves in the form of the study's figures, with what its text gives of its own.
func percentiles(title, subtitle string, curves []report.Curve) (plot.Figure, error) {
	figure, err := report.Percentiles(title, subtitle, curves)
	if err == nil {
		figure.Note, figure.Panels[0].Marks = paper.Note, paper.Percentiles()
	}
	return figure, err
}

func results(records []Record) []result.Result {
	var all []result.Result
	for _, r := range records {
		all = append(all, r.Result)
	}
	return all
}
