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
)

// The rules, in the words of the page. They and their limits are ours; some limits are figures of the paper, at which the rules
// give its own grades.
const (
	realTimeRule = "Real-time performance: very good where every fleet of up to 4,000 connections on one broker has 99.8 % of its messages " +
		"within 100 ms in every run and loses none (what the paper reports of NaradaBrokering); average where 99 % are within 4 s (of R-GMA) and at " +
		"most 0.5 % lost (its bound for late messages); else poor."
	connectionsRule = "Concurrent connections and throughput: very good where one broker takes more than 2,500 connections (NaradaBrokering's) " +
		"without loss; average from 500 (R-GMA's); else poor."
	scalabilityRule = "Scalability: very good where a network of brokers takes more connections than one broker, and at the same number, on the " +
		"slowest of the measured topologies, its median round trip is at most 1.5 times the single broker's; average where it takes more, but is slower " +
		"than that; poor where it takes no more. The 1.5 is our choice: the paper gives no limit. The ratio is of the runs' medians (Hodges and Lehmann); " +
		"where its 95 % interval holds 1.5, the grade says so."
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
		single, network := p.series(broker.single), []Record{}
		for _, name := range broker.networks {
			network = append(network, p.series(name)...)
		}
		realTime, why1 := gradeRealTime(single)
		connections, why2 := gradeConnections(single)
		scalability, why3 := gradeScalability(single, network)
		rows = append(rows, []string{broker.name, string(realTime), string(connections), string(scalability)})
		reasons = append(reasons, fmt.Sprintf("- %s: real-time performance %s: %s. Connections %s: %s. Scalability %s: %s.", broker.name,
			realTime, why1, connections, why2, scalability, why3))
	}
	p.table(4, []string{"", "real-time performance", "concurrent connections and throughput", "scalability"}, rows)
	p.paragraph("The rules:\n\n- %s\n- %s\n- %s", realTimeRule, connectionsRule, scalabilityRule)
	p.paragraph("Why these grades:\n\n%s", strings.Join(reasons, "\n"))
	p.differs("Broker and fleet share one machine here, and so do all nodes of a network: a network of brokers has no more processors than one " +
		"broker, so the rule for scalability is a hard one. The paper gave NaradaBrokering's network its average because it broadcast; whether " +
		"these do is measured in [3-brokers.md](3-brokers.md).")
	return nil
}

// graded are the brokers of the table, with the series of points that grades are made of.
var graded = []struct {
	name, single string
	networks     []string
}{
	{"NATS 2.15", "single-nats", []string{"cluster", "cluster-other", "cluster-apart", "cluster-six"}},
	{"Kafka 4.3 (acks=1)", "single-kafka", []string{"cluster-kafka"}},
}

func gradeRealTime(single []Record) (grade, string) {
	result, why := unknown, "no point of one broker"
	ranks := []grade{unknown, veryGood, average, poor}
	slowest := -1.0
	for _, r := range single {
		if !r.measured() || r.Broke() || r.Scenario.Generators > 4000 {
			continue
		}
		lostShare := float64(r.Counts.Lost) / float64(r.Counts.Sent)
		this, at := poor, r.Spread(rtt(99.8)).Most
		switch {
		case r.Counts.Lost == 0 && at <= 100e6:
			this = veryGood
		case lostShare <= 0.005 && r.Spread(rtt(99)).Most <= 4e9:
			this = average
		}
		// Every fleet has to reach a grade: the worst one decides, and speaks for those of its grade when it is the slowest of them.
		rank := slices.Index(ranks, this) - slices.Index(ranks, result)
		if rank > 0 || rank == 0 && at > slowest {
			slowest, result = at, this
			why = fmt.Sprintf("99.8 %% within %s at %s connections, the worst run of its fleets, %s lost", format.Duration(at),
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
	var slowest *spread.Change
	var size int
	for _, here := range network {
		for _, there := range single {
			if here.Scenario.Generators != there.Scenario.Generators || !here.measured() || !there.measured() {
				continue
			}
			if c := Compare(there, here, rtt(50)); slowest == nil || c.Ratio > slowest.Ratio {
				slowest, size = &c, here.Scenario.Generators
			}
		}
	}
	if slowest == nil {
		return unknown, why + "; no fleet of the same size on both"
	}
	why += fmt.Sprintf("; slowest at %s, a median of %s against %s, %s times", format.Count(size), format.Duration(slowest.After.Median),
		format.Duration(slowest.Before.Median), ratio(*slowest))
	if slowest.Least <= scalable && scalable <= slowest.Most {
		why += ", too close to 1.5 for these runs to tell"
	}
	if slowest.Ratio > scalable {
		return average, why
	}
	return veryGood, why
}

// scalable is the greatest ratio of medians, network by single broker, of a broker that scales very well.
const scalable = 1.5
