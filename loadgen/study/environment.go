package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lifeline/loadgen/study/paper"

	"lifeline/loadgen/format"
	"lifeline/loadgen/message"
)

func environmentPage(p *page) error {
	p.section("Table I", "hardware and software")
	p.here("Brokers and fleet share one machine; what is below comes from the points' records.")
	machines, kernels, brokers, clients := p.environment()
	p.table(3, []string{"", "the paper", "here"}, [][]string{
		{"CPU and memory of a machine", paperSays("Table I, CPU"), machines},
		{"system", paperSays("Table I, system"), kernels + "; NATS and the fleet in Go, Kafka on a JVM"},
		{"middleware", paperSays("Table I, Narada") + "; " + paperSays("Table I, R-GMA"), brokers},
		{"clients", "JMS and R-GMA clients in Java", clients},
	})
	p.differs("Messages travel through the loopback interface: no network is in our round trips, and a network of brokers " +
		"has no more processors than one broker. Processors and protocols are 20 years apart, so only shapes and limits compare, not milliseconds.")
	p.section("Metrics", "what is measured (section III.C)")
	p.here("A round trip (RTT) begins when the message was due, so that a client or machine that stands still delays it. *Service time* " +
		"begins with the actual send and is what the paper calls RTT; [changes.md](changes.md) has both. CPU idle and memory are the paper's, " +
		"of a machine that holds broker and fleet; the resident memory of each is in the tables too. Percentiles are exact to three digits.")
	p.fleet750()
	p.payload()
	return nil
}

// environment names the machines, kernels, brokers and clients of all records.
func (p *page) environment() (machines, kernels, brokers, clients string) {
	found := [4]map[string]bool{{}, {}, {}, {}}
	for _, r := range p.records {
		for i, name := range []string{hardware(r), r.Machine.Kernel, r.Broker.After.Name, r.Client} {
			found[i][name] = true
		}
	}
	list := func(set map[string]bool) string {
		delete(set, "")
		return strings.Join(slices.Sorted(maps.Keys(set)), "; ")
	}
	return list(found[0]), list(found[1]), list(found[2]), list(found[3])
}

// fleet750 is section III.B: what the generators themselves take.
func (p *page) fleet750() {
	p.section("Section III.B", "750 generators on one computer")
	const id = "generators-750"
	p.here("750 generators publish to core NATS, over a connection each, by the ordinary client.")
	records := p.measured(id)
	if len(records) == 0 {
		p.missing()
		return
	}
	for _, r := range records {
		p.table(0, []string{"messages/s", "payload/s", "CPU idle", "fleet, cores", "broker, cores", "lost", "p50", "p99.8", "runs", "valid"},
			[][]string{{format.Number(rate(r)), format.Bytes(rate(r) * r.Bytes.PerMessage), format.Percent(r.Resources.Idle), format.Number(r.Resources.Client.CPU),
				format.Number(r.Resources.Broker.CPU), lost(r), r.millis(rtt(50)), r.millis(rtt(99.8)), r.runs(), valid(r)}})
	}
	p.differs("CPU idle is of a machine that serves the messages too, at a higher rate than the paper's.")
}

var payloadRows = []struct{ id, name string }{
	{"table2-nats", "core NATS"},
	{"payload-nats", "core NATS"},
	{"table2-kafka-all", "Kafka acks=all"},
	{"payload-kafka", "Kafka acks=all"},
}

// payload shows the effect of what the paper does not say: how long its strings were.
func (p *page) payload() {
	p.section("Payload", "its size is a range (sections III.B, III.E and III.F)")
	least, most := message.RawLength(1), message.RawLength(payloadMost)
	p.here("Strings of 14 characters make %d bytes: a guess. The bound is 50 kB by 75 messages, 683 bytes of 1,024 a kB; %d times the fields "+
		"that identify nothing make %d bytes. Both at the same rate, 800 generators; R-GMA's fields would be 160 bytes, between the two.",
		least, payloadMost, most)
	var rows [][]string
	for _, row := range payloadRows {
		if r, ok := p.record(row.id); ok {
			rows = append(rows, append([]string{row.name, format.Number(r.Bytes.PerMessage)}, timeCells(r)...))
		}
	}
	p.table(1, append([]string{"here", "bytes"}, timeHead...), rows)
	text := pair(p, "table2-nats", "payload-nats", "The median of core NATS is %s with the small payload and %s with the large one.") +
		pair(p, "table2-kafka-all", "payload-kafka", " On Kafka it is %s and %s.")
	if text == "" {
		text = "The large payload: " + strings.ToLower(notMeasured)
	}
	p.paragraph("%s", text)
}

func hardware(r Record) string {
	return fmt.Sprintf("%s, %d cores, %s", r.Machine.CPU, r.Machine.Cores, format.Bytes(float64(r.Machine.Memory)))
}

func machine(r Record) string { return hardware(r) + ", " + r.Machine.Kernel }

const paperSource = "The paper: " + paper.Title + ". Its curves are pictures that its text does not give, so only what the text says stands beside ours."
