package study

import (
	"fmt"
	"slices"

	"lifeline/loadgen/format"
)

var loadHead = []string{"connections", "CPU idle", "memory (vmstat), MB", "broker, cores", "fleet, cores", "broker, kB per connection", "client, kB per connection", "runs", "valid"}

func loadCells(r Record) []string {
	connections := format.Count(max(r.Counts.Connections, r.Scenario.Generators))
	if !r.measured() {
		return padded(len(loadHead), connections, ending(r))
	}
	use := r.Resources
	return []string{connections, format.Percent(use.Idle), format.Number(float64(use.VmstatMemory) / 1e6), format.Number(use.Broker.CPU),
		format.Number(use.Client.CPU), kilobytes(use.Broker.PerConnection), kilobytes(use.Client.PerConnection), r.runs(), valid(r)}
}

func kilobytes(bytes float64) string { return format.Number(bytes / 1000) }

// tables writes a table for each setup.
func (p *page) tables(head []string, cells func(Record) []string) {
	none := true
	for _, setup := range setups {
		var rows [][]string
		for _, r := range p.series(setup.name) {
			rows = append(rows, cells(r))
		}
		if len(rows) > 0 {
			none = false
			p.paragraph("%s:", upperFirst(setup.title))
			p.table(0, head, rows)
		}
	}
	if none {
		p.missing()
	}
}

// loadSection is Figure 6.
func loadSection(p *page) error {
	p.section("Figure 6", "CPU idle and memory")
	p.here("CPU idle and memory are the paper's measures, of the one machine. Memory per connection is what resident memory grew by; a JVM takes " +
		"much of it from a heap that was resident before, so Kafka's is a lower bound.")
	p.tables(loadHead, loadCells)
	panels := slices.Concat(loadPanels("NATS", p.lines("NATS"), paperMost), loadPanels("Kafka", p.lines("Kafka"), paperMost))
	figure, any := together("CPU idle and memory over connections", "The paper's Figure 6, of the machine that holds brokers and fleet.",
		"Memory: peak minus bottom of the machine's used memory.", panels...)
	if _, err := p.show("figure-6.svg", figure, any); err != nil {
		return err
	}
	p.differs("Here brokers and fleet share the processors.%s%s", p.loads("single-nats-4000", "cluster-apart-4000", "one NATS server"),
		p.loads("single-kafka-4000", "cluster-kafka-4000", "one Kafka broker"))
	return nil
}

// loads compares the processors that a broker and a network of three took.
func (p *page) loads(single, network, one string) string {
	both := p.measured(single, network)
	if len(both) < 2 {
		return ""
	}
	cores := func(r Run) float64 { return r.Resources.Broker.CPU }
	return fmt.Sprintf(" With %s connections %s takes %s cores, three nodes %s: %s.", format.Count(both[0].Scenario.Generators), one,
		both[0].Spread(cores).Text(format.Number), both[1].Spread(cores).Text(format.Number),
		direction(Compare(both[0], both[1], cores), "the network takes more", "the network takes less"))
}
