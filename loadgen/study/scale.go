package study

import (
	"fmt"
	"slices"
	"strings"

	"lifeline/loadgen/study/paper"

	"lifeline/loadgen/format"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
)

// setup is a way in which fleets of several sizes were run, a series of points.
type setup struct{ name, title, short string }

func (s setup) broker() string {
	if strings.Contains(s.name, "kafka") {
		return "Kafka"
	}
	return "NATS"
}

var setups = []setup{
	{"single-nats", "one NATS server", "one server"},
	{"cluster", "three NATS nodes, subscribers on their publishers' node", "three nodes, same node"},
	{"cluster-apart", "three NATS nodes, Figure 5's topology", "three nodes, Figure 5"},
	{"cluster-six", "six NATS nodes, subscribers on their publishers' node", "six nodes"},
	{"single-kafka", "one Kafka broker, acks=1", "one broker"},
	{"cluster-kafka", "three Kafka brokers, acks=1, one replica", "three brokers"},
}

// paperMost is where the paper's axes of NaradaBrokering's connections end.
const paperMost = 4000

// lines are a broker's setups but the six nodes, which are beyond the paper's axes.
func (p *page) lines(broker string) []line {
	var all []line
	for _, setup := range setups {
		if setup.broker() == broker && setup.name != "cluster-six" {
			all = append(all, line{setup.short, p.series(setup.name)})
		}
	}
	return all
}

func brokersPage(p *page) error {
	p.say("\nEach generator has a connection of its own; rows say how often it publishes. The client is the minimal one, so that broker and fleet fit "+
		"onto one machine. Times in ms. %s", spanNote)
	for _, write := range []func(*page) error{topologySection, loadSection, rttSection, percentileSections, beyond} {
		if err := write(p); err != nil {
			return err
		}
	}
	return nil
}

func rttCells(r Record) []string {
	return append([]string{format.Count(max(r.Counts.Connections, r.Scenario.Generators))}, timeCells(r)...)
}

// rttSection is Figure 7.
func rttSection(p *page) error {
	p.section("Figure 7", "RTT and STDDEV over connections")
	p.here("One broker and networks of three, and below the paper's numbers of connections up to 100,000. Whole tables, of which the picture has " +
		"the paper's range.")
	p.tables(append([]string{"connections"}, timeHead...), rttCells)
	figure, any := together("RTT and STDDEV over connections", "The paper's Figure 7.", "Fleets that did not get to their end are not drawn.",
		rttPanel("NATS", p.lines("NATS"), paperMost), rttPanel("Kafka", p.lines("Kafka"), paperMost))
	if _, err := p.show("figure-7.svg", figure, any); err != nil {
		return err
	}
	p.differs("%s%s%s", riseSentence(p, "nats"), riseSentence(p, "kafka"), pair(p, "single-nats-4000", "cluster-apart-4000",
		"The network against the single server, with 4,000 connections on NATS: %[2]s in Figure 5's topology, %[1]s on one server."))
	return p.rates()
}

// riseSentence is about the paper's smooth increase, and apart from each other the effects of rate and connections.
func riseSentence(p *page, broker string) string {
	both := p.measured("single-"+broker+"-500", "single-"+broker+"-4000")
	if len(both) < 2 {
		return ""
	}
	few, many := both[0], both[1]
	text := fmt.Sprintf("One %s broker, 500 and 4,000 connections: a median of %s and %s (%s).", brokerNames[broker], median(few), median(many),
		direction(Compare(few, many, rtt(50)), "it rises", "it falls"))
	for _, same := range p.measured("rate-" + broker + "-500") {
		byRate := Compare(few, same, rtt(50))
		text += fmt.Sprintf(" The 500 at the message rate of the 4,000 have %s. The effect of eight times the rate alone: %s; from there of eight "+
			"times the connections alone: %s.", median(same), direction(byRate, "longer", "shorter"),
			direction(Compare(same, many, rtt(50)), "longer", "shorter"))
		if byRate.Clear() && byRate.Ratio < 1 {
			text += " A likely cause, not measured: idle threads and processors take time to wake."
		}
	}
	return text + " "
}

// rate is how many messages per second the generators publish.
func rate(r Record) float64 { return float64(r.Scenario.Generators) / r.Scenario.Interval.Seconds() }

// rates has fewer connections at the message rate of 4,000.
func (p *page) rates() error {
	records := p.measured("rate-nats-500", "rate-nats-1000", "rate-nats-2000", "single-nats-4000", "rate-kafka-500", "single-kafka-4000")
	var rows [][]string
	for _, r := range records {
		rows = append(rows, append([]string{brokerNames[r.Scenario.Transport], format.Count(r.Counts.Connections), format.Number(rate(r))}, timeCells(r)...))
	}
	p.paragraph("The rate of 4,000 connections from fewer:")
	p.table(1, append([]string{"broker", "connections", "messages/s"}, timeHead...), rows)
	return nil
}

// beyond draws all fleets on logarithmic axes: from hundreds to a hundred thousand connections.
func beyond(p *page) error {
	var drawn []report.Setup
	for _, setup := range setups {
		if records := p.series(setup.name); len(records) > 0 {
			drawn = append(drawn, report.Setup{Name: setup.broker() + ", " + setup.short, Runs: results(records)})
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	p.say("\n## Beyond the paper: up to 100,000 connections")
	rtt := report.RTTByConnections("RTT over connections, logarithmic", "All fleets of Figures 6 and 7.", drawn)
	rtt.Panels[0].Rules = paper.Limits()
	if err := p.picture("beyond-rtt.svg", rtt.Title, rtt.SVG()); err != nil {
		return err
	}
	load := report.LoadByConnections("CPU and memory over connections, logarithmic", "All fleets of Figures 6 and 7.", drawn)
	return p.picture("beyond-load.svg", load.Title, load.SVG())
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

func results(records []Record) []result.Result {
	var all []result.Result
	for _, r := range records {
		all = append(all, r.Result)
	}
	return all
}
