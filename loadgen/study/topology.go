package study

import (
	_ "embed"
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/loadgen/spread"
)

// topologyPicture is Figure 5 with the brokers of the points.
//
//go:embed topology.svg
var topologyPicture []byte

// topologies are ways from publisher to subscriber, with 4,000 generators.
var topologies = []struct{ id, name string }{
	{"single-nats-4000", "one server"},
	{"cluster-4000", "three nodes, subscriber on its publishers' node"},
	{"cluster-other-4000", "three nodes, subscriber on the next node"},
	{"cluster-apart-4000", "Figure 5: two publishing brokers, one subscribing broker"},
	{"single-kafka-4000", "one Kafka broker"},
	{"cluster-kafka-4000", "three Kafka brokers, clients connect to each partition's leader"},
}

// topologySection draws Figure 5 and gives its cost: what a message pays for the way from broker to broker.
func topologySection(p *page) error {
	p.section("Figure 5", "distributed architecture")
	if err := p.picture("figure-5.svg", "Publishing brokers and subscribing brokers", topologyPicture); err != nil {
		return err
	}
	p.here("Three NATS nodes: 4,000 generators publish to two of them, and all subscribers are on the third, so each message crosses the " +
		"network of brokers once. Beside it the shortest ways: one server, and subscribers on their publishers' node. Times in ms; *cost* is " +
		"how many times as long the p50 is as with subscribers on their publishers' node, with 95 %% confidence where runs suffice.")
	base := p.measured("cluster-4000")
	var rows [][]string
	for _, row := range topologies {
		r, ok := p.record(row.id)
		switch {
		case !ok:
			rows = append(rows, padded(10, row.name, "not measured yet"))
		case !r.measured():
			rows = append(rows, padded(10, row.name, ending(r)))
		default:
			cost, between, copies := "", "", ""
			if r.Scenario.Transport == "nats" && len(base) > 0 && row.id != base[0].Point {
				cost = ratio(Compare(base[0], r, rtt(50)))
			}
			if n, known := routedCopies(r); known && r.Scenario.Broker.Nodes > 1 {
				between, copies = format.Bytes(float64(routed(r))), format.Number(n)
			}
			times := r.bound(r.millis(rtt(50)), r.millis(rtt(99.8)))
			rows = append(rows, []string{row.name, times[0], cost, times[1], lost(r), format.Bytes(float64(r.Counts.Sent) * r.Bytes.PerMessage),
				between, copies, r.runs(), valid(r)})
		}
	}
	p.table(1, []string{"way", "p50", "cost", "p99.8", "lost", "payload published", "payload between nodes", "copies", "runs", "valid"}, rows)
	p.differs("The paper's controller node has no counterpart: NATS nodes find each other. Its text lets publishing node and receiving node be " +
		"the same computer, as here. A Kafka client connects to the broker that leads a partition, publisher and consumer alike, so there is no " +
		"way from broker to broker to choose; replicas would add one.")
	p.say("\n### Does data flow where no subscriber is?")
	p.paper("Figure 5, broadcast")
	p.here("The columns on the right: payload that nodes sent each other, as the servers count it (without the protocol's own bytes). A " +
		"broadcast would be two copies in each row of three nodes. NATS should send a message to a node only if a subscriber there has asked for " +
		"its subject: no copy where publisher and subscriber meet, one where they do not, and besides a little between the nodes themselves.")
	return nil
}

// ratio is how many times as long something took, with the bounds of 95 % confidence where enough runs give them.
func ratio(c spread.Change) string {
	text := format.Number(c.Ratio)
	if c.Least > 0 {
		text += fmt.Sprintf(" (%s to %s)", format.Number(c.Least), format.Number(c.Most))
	}
	return text
}

// routed are bytes that nodes sent each other during the run.
func routed(r Record) int64 { return r.Broker.After.Routed - max(0, r.Broker.Before.Routed) }

// routedCopies is bytes between nodes per byte of payload.
func routedCopies(r Record) (copies float64, known bool) {
	payload := float64(r.Counts.Sent) * r.Bytes.PerMessage
	if r.Broker.After.Routed < 0 || payload == 0 {
		return 0, false
	}
	return float64(routed(r)) / payload, true
}
