package study

import (
	"fmt"
	"slices"
	"strings"
)

// Point is one measurement of the study, made of several runs.
type Point struct {
	ID       string // of its file
	Scenario string // built-in
	Changes  []string
	Short    []string // further changes, which make a run of seconds
	Quick    bool     // part of the quick form
	Kind     Kind     // what measures it
	Refused  bool     // more than this kind of machine takes: the point is the refusal
}

// Kind says what measures a point.
type Kind string

// The kinds: a fleet, or something beside one.
const (
	Fleet    Kind = ""
	PingPong Kind = "ping-pong"
	Stored   Kind = "stored"  // queries of what the broker holds, beside a fleet
	Derived  Kind = "derived" // through stream jobs
)

// short is a run in which everybody publishes every interval. A run is to give the 5,000 messages that p99.8 needs (messagesFor) in a
// few seconds. Where the subject is a transport, 800 generators therefore publish every second instead of every 10; where it is the
// number of connections, they publish every 4 s, and fleets below 5,000 have only the percentiles that their messages give.
func short(interval, duration string, more ...string) []string {
	return append([]string{"interval=" + interval, "initial_sleep=[0s, " + interval + "]", "duration=" + duration, "drain=5s"}, more...)
}

// settled gives a broker in a JVM some thousand messages first: compilers count calls, not seconds.
func settled(scenario string, run []string) []string {
	if strings.Contains(scenario, "kafka") {
		return append(slices.Clone(run), "warm_up=3s")
	}
	return run
}

// point is a scenario's with changes, in runs of its own.
func point(id, scenario string, run []string, changes ...string) Point {
	return Point{ID: id, Scenario: scenario, Changes: changes, Short: settled(scenario, run)}
}

func generators(n int) string { return fmt.Sprintf("generators=%d", n) }

var (
	often  = short("1s", "7s")
	fleet  = short("4s", "4s")
	large  = short("10s", "10s") // the paper's interval: more messages than these would take too many cores
	asked  = short("1s", "5s")
	atOnce = []string{"interval=1s", "duration=6s", "drain=5s"}
)

func points() []Point {
	return slices.Concat(environmentPoints(), transportPoints(), scalePoints(), ratePoints(), queryPoints(), warmUpPoints(), faultPoints(),
		overheadPoints())
}

// payloadMost is how many times the study's fields a message may hold: its text bounds a message by 50 kB a second at 75
// messages a second, which are 683 bytes of 1,024 a kB.
const payloadMost = 6

func environmentPoints() []Point {
	payload := fmt.Sprintf("message.multiple=%d", payloadMost)
	return []Point{point("generators-750", "table2-nats", often, generators(750)), point("payload-nats", "table2-nats", often, payload),
		point("payload-kafka", "table2-kafka-all", often, payload)}
}

func transportPoints() []Point {
	var all []Point
	quick := []string{"nats", "nats-tls", "nats-websocket", "mqtt-qos0", "mqtt-qos1", "jetstream-r1", "jetstream-r3", "kafka-all"}
	for _, test := range append(slices.Clone(quick), "jetstream-client", "kafka-acks0", "kafka-acks1", "kafka-idempotent", "kafka-transaction",
		"nats-triple", "nats-80", "kafka-triple", "kafka-80") {
		run := often
		switch {
		case test == "kafka-transaction":
			run = short("4s", "6s") // more transactions a second would keep both cores busy
		case strings.HasSuffix(test, "-triple"): // three times the payload at a third of the rate
			run = short("3s", "6s")
		case strings.HasSuffix(test, "-80"): // a tenth of the connections at ten times the rate
			run = short("100ms", "7s")
		}
		p := point("table2-"+test, "table2-"+test, run)
		p.Quick = slices.Contains(quick, test)
		all = append(all, p)
	}
	for _, broker := range []string{"nats", "kafka"} {
		for _, events := range []int{1, 10, 1000} {
			all = append(all, point(fmt.Sprintf("table2-%s-batch-%d", broker, events), "table2-"+broker+"-batch", often,
				fmt.Sprintf("message.events=%d", events)))
		}
	}
	return all
}

func scalePoints() []Point {
	var all []Point
	at := func(name string, run []string, fleets ...int) {
		for _, n := range fleets {
			p := point(fmt.Sprintf("%s-%d", name, n), name, run, generators(n))
			p.Quick = n == 500 || n == 4000 && strings.HasSuffix(name, "nats") || n == 25000
			p.Refused = n == 25000
			all = append(all, p)
		}
	}
	at("single-nats", fleet, 500, 1000, 2000, 2500, 3000, 4000, 8000)
	at("single-nats", large, 19800, 25000)
	at("single-kafka", fleet, 500, 2000, 3000, 4000, 8000)
	at("single-kafka", large, 19000, 25000)
	at("cluster", fleet, 2000, 3000, 4000)
	at("cluster-apart", fleet, 2000, 3000, 4000)
	at("cluster-other", fleet, 4000)
	at("cluster", large, 50000)
	at("cluster-six", large, 100000)
	at("cluster-kafka", fleet, 2000, 4000)
	at("cluster-kafka", large, 30000)
	return all
}

// ratePoints have the message rate of 4,000 generators with fewer connections: they tell the one's effect from the other's.
func ratePoints() []Point {
	return []Point{
		point("rate-nats-500", "single-nats", short("500ms", "5s"), generators(500)),
		point("rate-nats-1000", "single-nats", asked, generators(1000)),
		point("rate-nats-2000", "single-nats", short("2s", "6s"), generators(2000)),
		point("rate-kafka-500", "single-kafka", short("500ms", "5s"), generators(500)),
	}
}

// consumerNames are the scenarios of consumers that are pushed to, and of those that ask, for one node and for three. PostgreSQL is
// one server.
var consumerNames = []string{"push-jetstream", "poll-jetstream", "push-kafka", "poll-kafka"}

func queryPoints() []Point {
	var all []Point
	for _, n := range []int{100, 400, 600, 1000} { // the study ended at 600 on one server and at 1,000 on four
		p := point(fmt.Sprintf("poll-postgres-%d", n), "poll-postgres", short("1s", "6s"), generators(n))
		p.Quick = n == 600
		all = append(all, p)
		for _, name := range consumerNames {
			p := point(fmt.Sprintf("%s-%d", name, n), name, asked, generators(n))
			p.Quick = n == 600 && name != "push-kafka"
			all = append(all, p)
			if n == 400 || n == 1000 { // the ends of the study's figure 14
				all = append(all, point(networkPrefix+p.ID, name, asked, generators(n), "broker.nodes=3", "subscribers.node=other"))
			}
		}
	}
	for _, broker := range []string{"jetstream", "kafka"} {
		all = append(all, Point{ID: "stored-" + broker, Scenario: "stored-" + broker, Kind: Stored, Quick: true,
			Short: short("1s", "8s", "warm_up=3s")})
		settling := []string{"warm_up=3s", "drain=5s"}
		if broker == "kafka" { // two JVMs, and a producer to set up for each generator
			settling = []string{"warm_up=9s", "drain=15s"}
		}
		for _, n := range []int{50, 200} { // as in the study's figure 10, more often: 99.8 % need thousands of messages
			all = append(all, Point{ID: fmt.Sprintf("secondary-%s-%d", broker, n), Scenario: "secondary-" + broker,
				Changes: []string{generators(n), "interval=1s"}, Kind: Derived, Short: append([]string{"initial_sleep=[0s, 1s]", "duration=8s"}, settling...)})
		}
	}
	return all
}

func warmUpPoints() []Point {
	var all []Point
	for _, broker := range []string{"nats", "jetstream", "mqtt", "kafka"} {
		for _, start := range []string{"warm-up-", "together-"} {
			all = append(all, Point{ID: start + broker, Scenario: start + broker, Short: atOnce, Quick: broker == "nats" || broker == "jetstream"})
		}
	}
	return all
}

func faultPoints() []Point {
	return []Point{
		{ID: "faults-jetstream", Scenario: "faults-jetstream", Quick: true,
			Short: short("4s", "18s", "drain=20s", "faults=[{at: 6s, node: 1, action: restart, for: 4s}]")},
		{ID: "faults-kafka", Scenario: "faults-kafka",
			Short: short("4s", "24s", "warm_up=3s", "drain=20s", "faults=[{at: 6s, node: 1, action: restart, for: 5s}]")},
	}
}

func overheadPoints() []Point {
	return []Point{
		{ID: "overhead-bare", Scenario: "overhead", Kind: PingPong, Short: []string{"duration=8s"}, Quick: true},
		{ID: "overhead-fleet", Scenario: "overhead", Short: []string{"duration=8s"}, Quick: true},
	}
}
