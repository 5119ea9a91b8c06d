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

// warm gives a broker in a JVM some thousand messages first: compilers count calls, not seconds.
func warm(run []string) []string { return append(slices.Clone(run), "warm_up=3s") }

var (
	often  = short("1s", "7s")
	fleet  = short("4s", "4s")
	large  = short("10s", "10s") // the paper's interval: more messages than these would take too many cores
	atOnce = []string{"interval=1s", "duration=6s", "drain=5s"}
)

func points() []Point {
	var all []Point
	for _, part := range [][]Point{environmentPoints(), transportPoints(), scalePoints(), ratePoints(), queryPoints(),
		warmUpPoints(), faultPoints(), overheadPoints()} {
		all = append(all, part...)
	}
	return all
}

// payloadMost is how many times the study's fields a message may hold: its text bounds a message by 50 kB a second at 75
// messages a second, which are 683 bytes of 1,024 a kB.
const payloadMost = 6

func environmentPoints() []Point {
	payload := []string{fmt.Sprintf("message.multiple=%d", payloadMost)}
	return []Point{
		{ID: "generators-750", Scenario: "table2-nats", Changes: []string{"generators=750"}, Short: often},
		{ID: "payload-nats", Scenario: "table2-nats", Changes: payload, Short: often},
		{ID: "payload-kafka", Scenario: "table2-kafka-all", Changes: payload, Short: warm(often)},
	}
}

func transportPoints() []Point {
	var all []Point
	quick := []string{"nats", "nats-tls", "nats-websocket", "mqtt-qos0", "mqtt-qos1", "jetstream-r1", "jetstream-r3", "kafka-all"}
	for _, broker := range []struct {
		name  string
		tests []string
		warm  func([]string) []string
	}{
		{"nats", []string{"nats", "nats-tls", "nats-websocket", "mqtt-qos0", "mqtt-qos1", "jetstream-r1", "jetstream-r3"}, slices.Clone[[]string]},
		{"kafka", []string{"kafka-acks0", "kafka-acks1", "kafka-all", "kafka-idempotent", "kafka-transaction"}, warm},
	} {
		for _, test := range broker.tests {
			run := broker.warm(often)
			if test == "kafka-transaction" {
				run = broker.warm(short("4s", "6s")) // more transactions a second would keep both cores busy
			}
			all = append(all, Point{ID: "table2-" + test, Scenario: "table2-" + test, Short: run, Quick: slices.Contains(quick, test)})
		}
		// Three times the payload at a third of the rate, and a tenth of the connections at ten times the rate.
		all = append(all,
			Point{ID: "table2-" + broker.name + "-triple", Scenario: "table2-" + broker.name + "-triple", Short: broker.warm(short("3s", "6s"))},
			Point{ID: "table2-" + broker.name + "-80", Scenario: "table2-" + broker.name + "-80", Short: broker.warm(short("100ms", "7s"))})
		for _, events := range []int{1, 10, 1000} {
			all = append(all, Point{ID: fmt.Sprintf("table2-%s-batch-%d", broker.name, events), Scenario: "table2-" + broker.name + "-batch",
				Changes: []string{fmt.Sprintf("message.events=%d", events)}, Short: broker.warm(often)})
		}
	}
	return all
}

func scalePoints() []Point {
	var all []Point
	at := func(name string, run []string, fleets ...int) {
		for _, generators := range fleets {
			all = append(all, Point{ID: fmt.Sprintf("%s-%d", name, generators), Scenario: name,
				Changes: []string{fmt.Sprintf("generators=%d", generators)}, Short: run,
				Quick:   generators == 500 || generators == 4000 && strings.HasSuffix(name, "nats") || generators == 25000,
				Refused: generators == 25000})
		}
	}
	at("single-nats", fleet, 500, 1000, 2000, 2500, 3000, 4000, 8000)
	at("single-nats", large, 19800, 25000)
	at("single-kafka", warm(fleet), 500, 2000, 3000, 4000, 8000)
	at("single-kafka", warm(large), 19000, 25000)
	at("cluster", fleet, 2000, 3000, 4000)
	at("cluster-apart", fleet, 2000, 3000, 4000)
	at("cluster-other", fleet, 4000)
	at("cluster", large, 50000)
	at("cluster-six", large, 100000)
	at("cluster-kafka", warm(fleet), 2000, 4000)
	at("cluster-kafka", warm(large), 30000)
	return all
}

// ratePoints have the message rate of 4,000 generators with fewer connections: they tell the one's effect from the other's.
func ratePoints() []Point {
	var all []Point
	for _, point := range []struct {
		broker     string
		generators int
		run        []string
	}{
		{"nats", 500, short("500ms", "5s")}, {"nats", 1000, short("1s", "5s")}, {"nats", 2000, short("2s", "6s")},
		{"kafka", 500, warm(short("500ms", "5s"))},
	} {
		all = append(all, Point{ID: fmt.Sprintf("rate-%s-%d", point.broker, point.generators), Scenario: "single-" + point.broker,
			Changes: []string{fmt.Sprintf("generators=%d", point.generators)}, Short: point.run})
	}
	return all
}

// consumerNames are the scenarios of consumers that are pushed to, and of those that ask, for one node and for three. PostgreSQL is
// one server.
var consumerNames = []string{"push-jetstream", "poll-jetstream", "push-kafka", "poll-kafka"}

func queryPoints() []Point {
	var all []Point
	warmed := func(broker string, run []string) []string {
		if strings.HasSuffix(broker, "kafka") {
			return warm(run)
		}
		return run
	}
	for _, generators := range []int{100, 400, 600, 1000} { // the study ended at 600 on one server and at 1,000 on four
		fleet := []string{fmt.Sprintf("generators=%d", generators)}
		all = append(all, Point{ID: fmt.Sprintf("poll-postgres-%d", generators), Scenario: "poll-postgres", Changes: fleet,
			Short: short("1s", "6s"), Quick: generators == 600})
		for _, name := range consumerNames {
			all = append(all, Point{ID: fmt.Sprintf("%s-%d", name, generators), Scenario: name, Changes: fleet,
				Short: warmed(name, short("1s", "5s")), Quick: generators == 600 && name != "push-kafka"})
			if generators == 400 || generators == 1000 { // the ends of the study's figure 14
				all = append(all, Point{ID: fmt.Sprintf("network-%s-%d", name, generators), Scenario: name,
					Changes: append(slices.Clone(fleet), "broker.nodes=3", "subscribers.node=other"), Short: warmed(name, short("1s", "5s"))})
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
		for _, generators := range []int{50, 200} { // as in the study's figure 10, more often: 99.8 % need thousands of messages
			all = append(all, Point{ID: fmt.Sprintf("secondary-%s-%d", broker, generators), Scenario: "secondary-" + broker,
				Changes: []string{fmt.Sprintf("generators=%d", generators), "interval=1s"}, Kind: Derived,
				Short: append([]string{"initial_sleep=[0s, 1s]", "duration=8s"}, settling...)})
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
