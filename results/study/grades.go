package study

import (
	"fmt"
	"slices"

	"lifeline/loadgen/format"
)

// A grade is one of the study's three words.
type grade string

const (
	veryGood grade = "very good"
	average  grade = "average"
	poor     grade = "poor"
	unknown  grade = "not measured"
)

// The rules, in the words of the page. Their limits are where the study's own grades lie: NaradaBrokering was "very good" with
// 99.8 % within 100 ms and 2,500 connections, R-GMA "average" with 99 % within 4 s and 500.
const (
	realTimeRule = "Real-time performance: very good where every fleet of up to 4,000 connections on one broker has 99.8 % of its messages " +
		"within 100 ms and loses none; average where 99 % are within 4 s and at most 0.5 % lost; else poor."
	connectionsRule = "Concurrent connections and throughput: very good where one broker takes more than the 2,500 connections of the " +
		"study's best without loss; average from the 500 of its other one; else poor."
	scalabilityRule = "Scalability: very good where a network of brokers takes more connections than one broker, and at the same number " +
		"its median round trip is at most 1.5 times the single broker's; average where it takes more, but is slower than that; poor " +
		"where it takes no more."
)

func gradesPage(p *page) error {
	p.say("The study's Table III graded its two systems by impression. Here each grade follows from a rule, and the rule's limits from the " +
		"study's own grades.")
	rows := [][]string{
		{"R-GMA (the study)", "average", "average", "very good"},
		{"NaradaBrokering (the study)", "very good", "very good", "average"},
	}
	var reasons []string
	for _, broker := range []struct{ name, single, network string }{
		{"NATS 2.15", "single-nats", "cluster"},
		{"Kafka 4.3 (acks=1)", "single-kafka", "cluster-kafka"},
	} {
		single, network := p.series(broker.single), p.series(broker.network)
		if broker.single == "single-nats" {
			network = append(network, p.series("cluster-six")...)
		}
		realTime, why1 := gradeRealTime(single)
		connections, why2 := gradeConnections(single)
		scalability, why3 := gradeScalability(single, network)
		rows = append(rows, []string{broker.name, string(realTime), string(connections), string(scalability)})
		reasons = append(reasons, fmt.Sprintf("- %s: real-time performance %s: %s. Connections %s: %s. Scalability %s: %s.", broker.name,
			realTime, why1, connections, why2, scalability, why3))
	}
	p.table(4, []string{"", "real-time performance", "concurrent connections and throughput", "scalability"}, rows)
	p.say("\n## The rules\n\n- %s\n- %s\n- %s", realTimeRule, connectionsRule, scalabilityRule)
	p.say("\n## Why these grades\n")
	for _, reason := range reasons {
		p.say("%s", reason)
	}
	p.paragraph("Broker and fleet share one machine here, and so do all nodes of a network: a network of brokers has no more processors " +
		"than one broker, unlike the study's, which makes the rule for scalability a hard one. The study gave NaradaBrokering's network " +
		"its average because it broadcast; whether these do is measured in [2-scale.md](2-scale.md).")
	return nil
}

func gradeRealTime(single []Record) (grade, string) {
	result, why := unknown, "no point of one broker"
	ranks := []grade{unknown, veryGood, average, poor}
	slowest := int64(-1)
	for _, r := range single {
		if !r.measured() || r.Broke() || r.Scenario.Generators > 4000 {
			continue
		}
		lostShare := float64(r.Counts.Lost) / float64(r.Counts.Sent)
		this := poor
		switch {
		case r.Counts.Lost == 0 && r.Times.RTT.At(99.8) <= 100e6:
			this = veryGood
		case lostShare <= 0.005 && r.Times.RTT.At(99) <= 4e9:
			this = average
		}
		// Every fleet has to reach a grade: the worst one decides, and speaks for those of its grade when it is the slowest of them.
		at, rank := r.Times.RTT.At(99.8), slices.Index(ranks, this)-slices.Index(ranks, result)
		if rank > 0 || rank == 0 && at > slowest {
			slowest, result = at, this
			why = fmt.Sprintf("99.8 %% within %s at %s connections, the worst of its fleets, %s lost", ms(at),
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
	many, okToo := largest(network)
	if !ok || !okToo {
		return unknown, "no point of a network of brokers"
	}
	why := fmt.Sprintf("%s connections on %d nodes, %s on one", format.Count(many.Counts.Connections), many.Scenario.Broker.Nodes,
		format.Count(one.Counts.Connections))
	if many.Counts.Connections <= one.Counts.Connections {
		return poor, why
	}
	compared := false
	for _, here := range network {
		for _, there := range single {
			if here.Scenario.Generators != there.Scenario.Generators || !here.measured() || !there.measured() {
				continue
			}
			compared = true
			a, b := here.Times.RTT.At(50), there.Times.RTT.At(50)
			why += fmt.Sprintf("; at %s a median of %s against %s", format.Count(here.Scenario.Generators), ms(a), ms(b))
			if float64(a) > 1.5*float64(b) {
				return average, why
			}
		}
	}
	if !compared {
		return unknown, why + "; no fleet of the same size on both"
	}
	return veryGood, why
}
