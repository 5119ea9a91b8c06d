package study

import (
	"fmt"
	"strings"

	"lifeline/loadgen/study/paper"

	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/report"
	"lifeline/loadgen/spread"
)

// mapping says what stands for the paper's tests today; its second column is what the paper lost.
func mapping(p *page) [][]string {
	client := "JetStream, acknowledged by the subscriber"
	if len(p.measured("table2-jetstream-client")) == 0 {
		client += ": not measured yet"
	}
	none := paperSays("Table II, other tests")
	return [][]string{
		{"1, UDP, AUTO_ACKNOWLEDGE", paperSays("Table II, test 1"), "MQTT QoS 1; below it MQTT QoS 0 and Kafka acks=0", "No broker here has UDP. The " +
			"paper's messages were acknowledged by the consumer's session as it delivered them; MQTT QoS 1 acknowledges each message per hop, from " +
			"publisher to broker and from broker to subscriber. QoS 0 and acks=0 acknowledge nothing and so promise less than test 1; over TCP both."},
		{"2, UDP, CLIENT_ACKNOWLEDGE", paperSays("Table II, test 2"), client, "The application acknowledges what it " +
			"has received, each message for itself; over TCP. Kafka has no counterpart: a consumer commits a position, for all messages before it, " +
			"and acks=1 is the broker's acknowledgement to the producer."},
		{"3, NIO", none, "NATS over WebSocket; Kafka acks=all", "NIO was the Java broker's other way to serve sockets. Kafka's server is built on it; " +
			"nats-server offers WebSocket as its other way in."},
		{"4, TCP", none, "core NATS; Kafka acks=all", "What the paper recommends, and the basis of its other tests."},
		{"5, triple payload", none, "the same, on core NATS and Kafka", ""},
		{"6, 80 connections", none, "the same, on core NATS and Kafka", ""},
		{"-", "", "TLS; JetStream with one and three replicas; Kafka acks=1, idempotent, and transactions (one for each message)", "Beyond the paper, at its message and rate."},
	}
}

// transportRows are the rows of Table II, in the order of the paper's tests.
var transportRows = []struct{ id, test, name string }{
	{"mqtt-qos1", "1", "MQTT QoS 1"},
	{"mqtt-qos0", "1, weaker", "MQTT QoS 0"},
	{"kafka-acks0", "1, weaker", "Kafka acks=0"},
	{"jetstream-client", "2", "JetStream, acknowledged by the subscriber"},
	{"nats-websocket", "3", "NATS over WebSocket"},
	{"kafka-all", "3, 4", "Kafka acks=all, 1 replica"},
	{"nats", "4", "core NATS"},
	{"nats" + paperSuffix, "4", "core NATS, the paper's timing"},
	{"nats-triple", "5", "core NATS, triple"},
	{"kafka-triple", "5", "Kafka acks=all, triple"},
	{"nats-80", "6", "core NATS, 80 connections"},
	{"kafka-80", "6", "Kafka acks=all, 80 connections"},
	{"nats-tls", "-", "core NATS over TLS"},
	{"jetstream-r1", "-", "JetStream, 1 replica"},
	{"jetstream-r3", "-", "JetStream, 3 replicas"},
	{"kafka-acks1", "-", "Kafka acks=1"},
	{"kafka-idempotent", "-", "Kafka idempotent"},
	{"kafka-transaction", "-", "Kafka, transactions"},
}

func transportsPage(p *page) error {
	p.section("Table II", "settings of the comparison tests")
	p.here("800 generators publish to an embedded broker, one connection " +
		"each, by the ordinary client libraries; a subscriber with the selector `id < 10000` takes all. Kafka's topics have one replica, so " +
		"acks=all waits for nobody but the leader.")
	p.table(4, []string{"test", "the paper lost", "today", "why"}, mapping(p))
	p.differs("Runs are shorter than the paper's 30 minutes, except the row with its timing, all generators start at once, and a generator publishes " +
		"more often than every 10 s where a run of seconds has to give the 5,000 messages that p99.8 needs; rows say how often. Tests 5 and 6 keep " +
		"their proportion to test 4.")

	p.section("Figure 3", "RTT and STDDEV of the comparison tests")
	p.here("Times in ms. %s", spanNote)
	var rows [][]string
	bars := plot.Spans{Title: "RTT and STDDEV by transport", Subtitle: "The paper's Figure 3, with today's transports.", Text: format.Tick,
		Lanes: []string{"RTT, mean", "STDDEV"}}
	groups := []group{{title: "NATS and MQTT"}, {title: "Kafka"}}
	for _, row := range transportRows {
		r, ok := p.record("table2-" + row.id)
		if !ok {
			continue
		}
		rows = append(rows, append([]string{row.test, row.name, acknowledged(r)}, timeCells(r)...))
		if !r.measured() {
			continue
		}
		bars.Rows = append(bars.Rows, plot.Row{Name: row.name, Spans: []plot.Span{{To: r.middle(mean)}, {To: r.middle(deviation)}}})
		of := &groups[0]
		if r.Scenario.Transport == "kafka" {
			of = &groups[1]
		}
		of.curves = append(of.curves, report.Curve{Name: row.name, Distribution: r.Times.RTT})
	}
	if len(rows) == 0 {
		p.missing()
		p.section("Figure 4", "percentiles of RTT of the comparison tests")
		p.missing()
		return nil
	}
	p.table(2, append([]string{"test", "here", "acknowledged p50"}, timeHead...), rows)
	if err := p.picture("figure-3.svg", bars.Title, bars.SVG()); err != nil {
		return err
	}
	p.differs("%s", transportsSentence(p))

	p.section("Figure 4", "percentiles of RTT of the comparison tests")
	figure, any, err := percentiles("Transports, percentiles of RTT", "Figure 4", paper.Narada, groups)
	if err != nil {
		return err
	}
	p.here("The rows of Figure 3.")
	if _, err := p.show("figure-4.svg", figure, any); err != nil {
		return err
	}
	p.differs("%s", tripleSentence(p))
	batchTable(p)
	return nil
}

func acknowledged(r Record) string {
	if r.Times.Acknowledged.Count == 0 {
		return ""
	}
	return at(r.Times.Acknowledged, 50)
}

// transportsSentence compares with the paper's words, as far as there are rows.
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
	text := fmt.Sprintf("%d of %d rows lost nothing: over TCP a message is lost only with its connection, or where a subscriber is too slow. "+
		"The paper's losses were UDP's.", without, total)
	text += pair(p, "table2-mqtt-qos0", "table2-mqtt-qos1", " The median on MQTT is %s without acknowledgements, %s with one for each message and hop.")
	text += pair(p, "table2-jetstream-r1", "table2-jetstream-client", " On JetStream it is %s without, %s with an acknowledgement by the subscriber.")
	text += pair(p, "table2-nats", "table2-nats-80", " On core NATS it is %s with 800 connections, %s with a tenth of them at ten times the rate.")
	text += pair(p, "table2-kafka-all", "table2-kafka-80", " On Kafka these are %s and %s.")
	text += pair(p, "table2-nats", "table2-jetstream-r3", " Beyond the paper: %s on core NATS, which promises nothing, %s when a majority of three nodes has the message first.")
	text += pair(p, "table2-kafka-all", "table2-kafka-transaction", " On Kafka it is %s acknowledged, %s with a transaction around each message.")
	return text
}

// tripleSentence is about test 5, in which the paper changed two things at once.
func tripleSentence(p *page) string {
	text := "Test 5 changes payload and rate at once, so it does not tell which of them matters (for the rate alone see Figure 7)."
	text += pair(p, "table2-nats", "table2-nats-triple", " Core NATS: a median of %s with one payload, %s with three at a third of the rate.")
	text += pair(p, "table2-kafka-all", "table2-kafka-triple", " Kafka: %s and %s.")
	return text + " The payload alone, at one rate, is in [1-environment.md](1-environment.md)."
}

// pair fills in the medians of two points, and says where their runs do not show a difference; nothing where one is missing.
func pair(p *page, one, other, form string) string {
	both := p.measured(one, other)
	if len(both) < 2 {
		return ""
	}
	text := fmt.Sprintf(form, median(both[0]), median(both[1]))
	doubt := Compare(both[0], both[1], rtt(50)).Doubt()
	if doubt == "" {
		return text
	}
	return strings.TrimSuffix(text, ".") + " (" + doubt + ")."
}

// median is a point's p50 with its unit; of a point without any valid run an upper bound.
func median(r Record) string {
	if !r.Valid {
		return "at most " + format.Duration(r.middle(rtt(50)))
	}
	return format.Duration(r.middle(rtt(50)))
}

// direction says which way a figure goes, or that the runs do not show it.
func direction(c spread.Change, up, down string) string {
	switch {
	case c.Doubt() != "":
		return c.Doubt()
	case c.Ratio > 1:
		return up
	}
	return down
}

const spanNote = "Messages are all that were published; times are of those in the measured span, which begins when all generators have slept " +
	"and, with Kafka, the broker is warm."
