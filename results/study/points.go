package study

import "fmt"

// Point is one measurement of the study.
type Point struct {
	ID       string // of its file
	Scenario string // built-in
	Changes  []string
	Quick    []string // further changes of the quick form; nil: not part of it
	Fixed    bool     // as long as its scenario says, in every form but the quick one
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

// quickly is the quick form of the study's 800 generators: a fifth of the interval, so that some seconds give as many
// messages as the percentiles need.
func quickly(interval string, more ...string) []string {
	return append([]string{"interval=" + interval, "initial_sleep=[0s, " + interval + "]", "duration=8s", "drain=5s"}, more...)
}

// quicklyKafka gives the JVM some seconds more.
func quicklyKafka(interval string, more ...string) []string {
	return append(quickly(interval, "warm_up=6s"), more...)
}

// briefly is the quick form of large fleets, at their full interval.
func briefly(more ...string) []string {
	return append([]string{"initial_sleep=[0s, 10s]", "duration=10s", "drain=5s"}, more...)
}

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
	payload := fmt.Sprintf("message.multiple=%d", payloadMost)
	return []Point{
		{ID: "generators-750", Scenario: "table2-nats", Changes: []string{"generators=750"}},
		{ID: "payload-nats", Scenario: "table2-nats", Changes: []string{payload}},
		{ID: "payload-kafka", Scenario: "table2-kafka-all", Changes: []string{payload}},
	}
}

func transportPoints() []Point {
	at := func(name string, quick []string, changes ...string) Point {
		return Point{ID: "table2-" + name, Scenario: "table2-" + name, Changes: changes, Quick: quick}
	}
	batch := func(broker string, events int, quick []string) Point {
		p := at(broker+"-batch", quick, fmt.Sprintf("message.events=%d", events))
		p.ID = fmt.Sprintf("%s-%d", p.ID, events)
		return p
	}
	return []Point{
		at("nats", quickly("2s")),
		at("nats-tls", quickly("2s")),
		at("nats-websocket", quickly("2s")),
		at("mqtt-qos0", quickly("2s")),
		at("mqtt-qos1", quickly("2s")),
		at("jetstream-r1", quickly("2s")),
		at("jetstream-r3", quickly("2s")),
		at("kafka-acks0", quicklyKafka("2s")),
		at("kafka-acks1", quicklyKafka("2s")),
		at("kafka-all", quicklyKafka("2s")),
		at("kafka-idempotent", nil),
		at("kafka-transaction", nil),
		at("nats-triple", quickly("6s")),
		at("kafka-triple", nil),
		at("nats-80", quickly("200ms")),
		at("kafka-80", nil),
		batch("nats", 1, quickly("2s")),
		batch("nats", 10, nil),
		batch("nats", 1000, nil),
		batch("kafka", 1, nil),
		batch("kafka", 10, nil),
		batch("kafka", 1000, nil),
	}
}

func scalePoints() []Point {
	var all []Point
	at := func(name string, generators int, quick []string, changes ...string) {
		all = append(all, Point{
			ID: fmt.Sprintf("%s-%d", name, generators), Scenario: name,
			Changes: append([]string{fmt.Sprintf("generators=%d", generators)}, changes...), Quick: quick,
		})
	}
	for _, generators := range []int{500, 1000, 2000, 2500, 3000, 4000, 8000, 19800} {
		var quick []string
		if generators == 500 || generators == 4000 || generators == 19800 {
			quick = briefly()
		}
		at("single-nats", generators, quick)
	}
	beyond := func(name string) {
		at(name, 25000, briefly())
		all[len(all)-1].Refused = true
	}
	beyond("single-nats")
	for _, generators := range []int{500, 1000, 2000, 2500, 3000, 4000, 8000, 19000} {
		var quick []string
		if generators == 4000 || generators == 19000 {
			quick = briefly("warm_up=10s")
		}
		at("single-kafka", generators, quick)
	}
	beyond("single-kafka")
	for _, generators := range []int{2000, 3000, 4000} {
		var quick []string
		if generators == 4000 {
			quick = briefly()
		}
		at("cluster", generators, quick)
	}
	for _, generators := range []int{2000, 3000, 4000} {
		at("cluster-apart", generators, nil)
	}
	at("cluster-other", 4000, briefly())
	at("cluster", 50000, nil)
	at("cluster-six", 100000, briefly())
	for _, generators := range []int{2000, 3000, 4000} {
		at("cluster-kafka", generators, nil)
	}
	at("cluster-kafka", 30000, nil)
	return all
}

// ratePoints have the message rate of 4,000 generators with fewer connections: they tell the one's effect from the other's.
func ratePoints() []Point {
	var all []Point
	for _, point := range []struct {
		broker     string
		generators int
		interval   string
	}{{"nats", 500, "1250ms"}, {"nats", 1000, "2500ms"}, {"nats", 2000, "5s"}, {"kafka", 500, "1250ms"}} {
		p := Point{ID: fmt.Sprintf("rate-%s-%d", point.broker, point.generators), Scenario: "single-" + point.broker,
			Changes: []string{fmt.Sprintf("generators=%d", point.generators), "interval=" + point.interval}}
		if point.generators == 500 && point.broker == "nats" {
			p.Quick = []string{"initial_sleep=[0s, 2s]", "duration=8s", "drain=5s"}
		}
		all = append(all, p)
	}
	return all
}

// consumerNames are the scenarios of consumers that are pushed to, and of those that ask.
var consumerNames = []string{"push-jetstream", "poll-jetstream", "push-kafka", "poll-kafka"}

func queryPoints() []Point {
	var all []Point
	for _, generators := range []int{100, 400, 600, 1000} { // the study ended at 600 on one server and at 1,000 on four
		for _, name := range consumerNames {
			var quick []string
			switch {
			case generators != 600 || name == "push-kafka":
			case name == "poll-kafka":
				quick = quicklyKafka("2s")
			default:
				quick = quickly("2s")
			}
			all = append(all, Point{
				ID: fmt.Sprintf("%s-%d", name, generators), Scenario: name,
				Changes: []string{fmt.Sprintf("generators=%d", generators)}, Quick: quick,
			})
		}
	}
	for _, generators := range []int{400, 600, 1000} { // of the study's figure 14
		for _, name := range consumerNames {
			all = append(all, Point{ID: fmt.Sprintf("network-%s-%d", name, generators), Scenario: name,
				Changes: []string{fmt.Sprintf("generators=%d", generators), "broker.nodes=3", "subscribers.node=other"}})
		}
	}
	for _, broker := range []string{"jetstream", "kafka"} {
		all = append(all, Point{ID: "stored-" + broker, Scenario: "stored-" + broker, Kind: Stored,
			Quick: []string{"interval=2s", "initial_sleep=[0s, 2s]", "warm_up=6s", "duration=8s", "drain=5s"}})
	}
	for _, broker := range []string{"jetstream", "kafka"} {
		for _, generators := range []int{50, 200} { // as in the study's figure 10, more often: 99.8 % need thousands of messages
			p := Point{ID: fmt.Sprintf("secondary-%s-%d", broker, generators), Scenario: "secondary-" + broker,
				Changes: []string{fmt.Sprintf("generators=%d", generators), "interval=1s"}, Kind: Derived}
			if generators == 200 && broker == "jetstream" {
				p.Quick = []string{"warm_up=6s", "duration=10s", "drain=5s"}
			}
			all = append(all, p)
		}
	}
	return all
}

func warmUpPoints() []Point {
	var all []Point
	for _, broker := range []string{"nats", "jetstream", "mqtt", "kafka"} {
		quick := []string{"interval=2s", "duration=8s", "drain=5s"}
		if broker == "mqtt" {
			quick = nil
		}
		all = append(all, Point{ID: "warm-up-" + broker, Scenario: "warm-up-" + broker, Quick: quick})
		if broker != "jetstream" {
			quick = nil
		}
		all = append(all, Point{ID: "together-" + broker, Scenario: "together-" + broker, Quick: quick})
	}
	return all
}

func faultPoints() []Point {
	return []Point{
		{ID: "faults-jetstream", Scenario: "faults-jetstream", Fixed: true,
			Quick: []string{"duration=25s", "drain=20s", "faults=[{at: 8s, node: 1, action: restart, for: 6s}]"}},
		{ID: "faults-kafka", Scenario: "faults-kafka", Fixed: true,
			Quick: []string{"warm_up=8s", "duration=35s", "drain=20s", "faults=[{at: 8s, node: 1, action: restart, for: 8s}]"}},
	}
}

func overheadPoints() []Point {
	quick := []string{"duration=8s"}
	return []Point{
		{ID: "overhead-bare", Scenario: "overhead", Kind: PingPong, Quick: quick, Fixed: true},
		{ID: "overhead-fleet", Scenario: "overhead", Quick: quick, Fixed: true},
	}
}
