package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/spread"
)

// A grade is one of the paper's two words, or a third of ours.
type grade string

const (
	veryGood grade = "very good"
	average  grade = "average"
	poor     grade = "poor"
	unknown  grade = "not measured"

	atLeastAverage grade = "at least average" // where only an upper bound of times is known
)

// The rules, in the words of the page. They and their limits are ours; some limits are figures of the paper, at which the rules
// give its own grades.
const (
	realTimeRule = "Real-time performance: very good where every fleet of up to 4,000 connections on one broker has, in each run, 99.8 % of its " +
		"messages within 100 ms and loses none (what the paper reports of NaradaBrokering); average where 99 % are within 4 s (of R-GMA) and at most 0.5 % " +
		"lost (its bound for late messages); else poor."
	connectionsRule = "Concurrent connections and throughput: very good where one broker takes more than 2,500 connections (NaradaBrokering's) " +
		"without loss; average from 500 (R-GMA's); else poor."
	scalabilityRule = "Scalability: very good where a network of brokers takes more connections than one broker, and at the same number, on the " +
		"slowest of the measured topologies, its median round trip is at most 1.5 times the single broker's; average where it takes more, but is slower " +
		"than that; poor where it takes no more. The 1.5 is our choice: the paper gives no limit. Where the 95 % confidence of the ratio holds 1.5, the " +
		"grade is within noise; where the network has no valid run, its times are upper bounds, and its grade the least that it may be."
)

func gradesPage(p *page) error {
	p.section("Table III", "grades")
	p.here("The paper gives no rule for its grades. Here each follows from a rule; rules and limits are ours, and RTT is from when a message was due.")
	rows := [][]string{
		append([]string{"R-GMA (the paper)"}, strings.Split(paperSays("Table III, R-GMA"), "; ")...),
		append([]string{"NaradaBrokering (the paper)"}, strings.Split(paperSays("Table III, Narada"), "; ")...),
	}
	var reasons []string
	for _, broker := range graded {
		grades, why := p.grades(broker)
		rows = append(rows, []string{broker.name, string(grades[0]), string(grades[1]), string(grades[2])})
		reasons = append(reasons, fmt.Sprintf("- %s: real-time performance %s: %s. Connections %s: %s. Scalability %s: %s.", broker.name,
			grades[0], why[0], grades[1], why[1], grades[2], why[2]))
	}
	p.table(4, []string{"", "real-time performance", "concurrent connections and throughput", "scalability"}, rows)
	p.paragraph("The rules:\n\n- %s\n- %s\n- %s", realTimeRule, connectionsRule, scalabilityRule)
	p.paragraph("Why these grades:\n\n%s", strings.Join(reasons, "\n"))
	p.differs("Broker and fleet share one machine here, and so do all nodes of a network: a network of brokers has no more processors than one " +
		"broker, so the rule for scalability is a hard one. The paper gave NaradaBrokering's network its average because it broadcast; whether " +
		"these do is measured in [3-brokers.md](3-brokers.md).")
	return nil
}

// grades are a broker's three, and why.
func (p *page) grades(broker candidate) (grades [3]grade, why [3]string) {
	single, network := p.series(broker.single), []Record{}
	for _, name := range broker.networks {
		network = append(network, p.series(name)...)
	}
	grades[0], why[0] = gradeRealTime(single)
	grades[1], why[1] = gradeConnections(single)
	grades[2], why[2] = gradeScalability(single, network)
	return grades, why
}

type candidate struct {
	name, single string
	networks     []string
}

// graded are the brokers of the table, with the series of points that grades are made of.
var graded = []candidate{
	{"NATS 2.15", "single-nats", []string{"cluster", "cluster-other", "cluster-apart", "cluster-six"}},
	{"Kafka 4.3 (acks=1)", "single-kafka", []string{"cluster-kafka"}},
}

func gradeRealTime(single []Record) (grade, string) {
	result, why := unknown, "no point of one broker"
	ranks := []grade{unknown, veryGood, average, poor}
	slowest := 0.0
	for _, r := range single {
		if !r.measured() || r.Broke() || r.Scenario.Generators > 4000 {
			continue
		}
		at, this := r.Spread(rtt(99.8)), poor
		switch {
		case r.Counts.Lost == 0 && at.Most <= 100e6:
			this = veryGood
		case float64(r.Counts.Lost) <= 0.005*float64(r.Counts.Sent) && r.Spread(rtt(99)).Most <= 4e9:
			this = average
		}
		// Every fleet has to reach a grade: the worst one decides, and speaks for those of its grade when it is the slowest of them.
		rank := slices.Index(ranks, this) - slices.Index(ranks, result)
		if rank > 0 || rank == 0 && at.Most > slowest {
			slowest, result = at.Most, this
			why = fmt.Sprintf("99.8 %% within %s at %s connections, the worst of its fleets, %s lost", at.Text(format.Duration),
				format.Count(r.Counts.Connections), lost(r))
		}
	}
	return result, why
}

func gradeConnections(single []Record) (grade, string) {
	r, ok := largest(single)
	if !ok {
		return unknown, "no point of one broker"
	}
	why := fmt.Sprintf("one broker took %s without loss", format.Count(r.Counts.Connections))
	switch {
	case r.Counts.Connections > 2500:
		return veryGood, why
	case r.Counts.Connections >= 500:
		return average, why
	}
	return poor, why
}

func gradeScalability(single, network []Record) (grade, string) {
	one, ok := largest(single)
	slices.SortStableFunc(network, func(a, b Record) int { return cmp.Compare(a.Scenario.Generators, b.Scenario.Generators) })
	many, okToo := largest(network)
	if !ok || !okToo {
		return unknown, "no point of a network of brokers"
	}
	why := fmt.Sprintf("%s connections on %d nodes, %s on one", format.Count(many.Counts.Connections), many.Scenario.Broker.Nodes,
		format.Count(one.Counts.Connections))
	if many.Counts.Connections <= one.Counts.Connections {
		return poor, why
	}
	const limit = 1.5
	var slowest spread.Change
	var point Record
	for _, here := range network {
		for _, there := range single {
			if here.Scenario.Generators == there.Scenario.Generators && here.measured() && there.measured() {
				if c := Compare(there, here, rtt(50)); c.Ratio > slowest.Ratio {
					slowest, point = c, here
				}
			}
		}
	}
	if slowest.Ratio == 0 {
		return unknown, why + "; no fleet of the same size on both"
	}
	why += fmt.Sprintf("; the slowest network of the same size, `%s`, has %s times the median of the single broker", point.Point, ratio(slowest))
	if noise := within95(slowest, limit); noise != "" {
		why += ", " + noise + " against " + format.Number(limit)
	}
	switch {
	case slowest.Ratio <= limit:
		return veryGood, why
	case !point.Valid:
		return atLeastAverage, why + ", an upper bound: the network has no valid run"
	}
	return average, why
}
