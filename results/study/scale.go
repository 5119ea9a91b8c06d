package study

import (
	"fmt"
	"slices"
	"strings"

	"lifeline/results/study/paper"

	"lifeline/loadgen/format"
	"lifeline/loadgen/report"
)

// setups are the ways in which fleets of several sizes were run.
var setups = []struct {
	name, title string
	series      []string
}{
	{"single-nats", "one NATS server", []string{"single-nats"}},
	{"cluster", "three NATS nodes", []string{"cluster"}},
	{"cluster-six", "six NATS nodes", []string{"cluster-six"}},
	{"single-kafka", "one Kafka broker, acks=1", []string{"single-kafka"}},
	{"cluster-kafka", "three Kafka brokers, acks=1, one replica", []string{"cluster-kafka"}},
}

var scaleHead = []string{"connections", "messages", "lost", "mean", "STDDEV", "p50", "p99", "p99.8", "p100", "CPU idle", "broker, cores",
	"broker, kB per connection", "client, kB per connection", "form", "quiet"}

func scaleCells(r Record) []string {
	connections := format.Count(max(r.Counts.Connections, r.Scenario.Generators))
	if !r.measured() {
		cells := make([]string, len(scaleHead))
		cells[0], cells[1], cells[len(cells)-2] = connections, ending(r), r.Form
		return cells
	}
	d := r.Times.RTT
	return []string{
		connections, format.Count(r.Counts.Sent), lost(r), format.Millis(d.Mean), format.Millis(d.StdDev), at(d, 50), at(d, 99), at(d, 99.8),
		at(d, 100), format.Percent(r.Resources.Idle), format.Number(r.Resources.Broker.CPU), kilobytes(r.Resources.Broker.PerConnection),
		kilobytes(r.Resources.Client.PerConnection), r.Form, quiet(r),
	}
}

func kilobytes(bytes float64) string { return format.Number(bytes / 1000) }

func scalePage(p *page) error {
	p.say("Each generator has a connection of its own and publishes the study's message every 10 s; the client is the minimal one, so "+
		"that broker and fleet fit onto one machine. Times in ms. %s Memory per connection is what resident memory grew by; a JVM takes much of "+
		"it from a heap that was resident before, so Kafka's is a lower bound. The study's brokers had a machine each. %s", spanNote, paperSource)
	p.table(1, []string{"the study", "most connections", "round trips"}, [][]string{
		{"NaradaBrokering, one broker", "2,500; refused 4,000 (no memory for threads)", "99.8 % within 100 ms"},
		{"NaradaBrokering, network of three", "more than 4,000; 2,000 to 4,000 drawn", "99.8 % within 100 ms; mean and STDDEV above the single broker's"},
	})
	var drawn []report.Setup
	for _, setup := range setups {
		var rows [][]string
		records := p.series(setup.name)
		for _, r := range records {
			rows = append(rows, scaleCells(r))
		}
		if len(rows) == 0 {
			continue
		}
		p.say("\n## %s", strings.ToUpper(setup.title[:1])+setup.title[1:])
		p.table(0, scaleHead, rows)
		drawn = append(drawn, report.Setup{Name: setup.title, Runs: results(records)})
	}
	p.paragraph("%s", scaleSentence(p))
	if len(drawn) == 0 {
		return nil
	}
	rtt := report.RTTByConnections("RTT over connections", "The study's Figure 7.", drawn)
	rtt.Panels[0].Rules = paper.Limits()
	if err := p.picture("2-rtt.svg", rtt.Title, rtt.SVG()); err != nil {
		return err
	}
	load := report.LoadByConnections("CPU and memory over connections", "The study's Figure 6.", drawn)
	if err := p.picture("2-load.svg", load.Title, load.SVG()); err != nil {
		return err
	}
	for _, figure := range []struct{ file, title, subtitle, series string }{
		{"2-percentiles-nats.svg", "One NATS server, percentiles of RTT", "The study's Figure 8.", "single-nats"},
		{"2-percentiles-cluster.svg", "Three NATS nodes, percentiles of RTT", "The study's Figure 9.", "cluster"},
		{"2-percentiles-kafka.svg", "One Kafka broker, percentiles of RTT", "The study's Figure 8.", "single-kafka"},
	} {
		records := slices.DeleteFunc(p.series(figure.series), func(r Record) bool { return !r.measured() })
		if len(records) == 0 {
			continue
		}
		curves := curvesOf(records, func(r Record) string { return format.Count(r.Counts.Connections) + " connections" })
		drawing, err := percentiles(figure.title, figure.subtitle, curves)
		if err != nil {
			return err
		}
		if err := p.picture(figure.file, figure.title, drawing.SVG()); err != nil {
			return err
		}
	}
	flowTable(p)
	return nil
}

// largest is the greatest fleet of a series that ran to its end without loss.
func largest(records []Record) (Record, bool) {
	for _, r := range slices.Backward(records) {
		if r.measured() && !r.Broke() && r.Counts.Lost == 0 {
			return r, true
		}
	}
	return Record{}, false
}

func scaleSentence(p *page) string {
	var parts []string
	for _, setup := range setups {
		if r, ok := largest(p.series(setup.name)); ok {
			parts = append(parts, fmt.Sprintf("%s took %s connections without loss, at %s kB each in the broker, and 99.8 %% of messages "+
				"made the round trip within %s", setup.title, format.Count(r.Counts.Connections),
				kilobytes(r.Resources.Broker.PerConnection), ms(r.Times.RTT.At(99.8))))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := "Here " + strings.Join(parts, "; ") + "."
	return text + " The study's broker spent a thread on each connection and ran out of memory for them. Today's do not, and what ends first is " +
		"the number of file descriptors that one process may open: a fleet that needs more is refused before it starts."
}

// flowTable answers the study's question whether brokers broadcast.
func flowTable(p *page) {
	var rows [][]string
	for _, row := range []struct{ id, subscribers string }{{"cluster-4000", "on the publishers' node"}, {"cluster-other-4000", "on another node"}} {
		for _, r := range p.measured(row.id) {
			copies, known := routedCopies(r)
			if !known {
				continue
			}
			rows = append(rows, []string{row.subscribers, format.Bytes(float64(r.Counts.Sent) * r.Bytes.PerMessage),
				format.Bytes(float64(routed(r))), format.Number(copies), r.Form})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.say("\n## Does data flow where no subscriber is?")
	p.paragraph("The study saw data flow to nodes without a subscriber: a broker network that broadcasts. Three NATS nodes, 4,000 generators; " +
		"bytes that went from node to node, as the servers count them (protocol and the nodes' own traffic included). A broadcast would be " +
		"two copies of everything in both rows.")
	p.table(1, []string{"subscribers", "payload published", "between nodes", "copies", "form"}, rows)
	p.paragraph("NATS sends a message to a node only if a subscriber there has asked for its subject: none where publisher and subscriber meet, " +
		"one where they do not.")
}

func routed(r Record) int64 { return r.Broker.After.Routed - max(0, r.Broker.Before.Routed) }

// routedCopies is bytes between nodes per byte of payload.
func routedCopies(r Record) (copies float64, known bool) {
	payload := float64(r.Counts.Sent) * r.Bytes.PerMessage
	if r.Broker.After.Routed < 0 || payload == 0 {
		return 0, false
	}
	return float64(routed(r)) / payload, true
}
