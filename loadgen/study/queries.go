package study

import (
	"fmt"
	"slices"

	"lifeline/loadgen/study/paper"

	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
)

// consumer is a way to get what generators publish, a series of points.
type consumer struct {
	name, title string
	polls       bool
}

// consumers are the successors of R-GMA's consumers: those that ask every 100 ms, as the paper's, and those that are pushed to.
var consumers = []consumer{
	{"poll-jetstream", "JetStream, asked every 100 ms", true},
	{"poll-kafka", "Kafka, asked every 100 ms", true},
	{"poll-postgres", "PostgreSQL, asked every 100 ms", true},
	{"push-jetstream", "JetStream, pushed", false},
	{"push-kafka", "Kafka, the consumer waits at the broker", false},
}

// networkPrefix begins the names of the same consumers on three nodes.
const networkPrefix = "network-"

// queriesMost is where the paper's axes of R-GMA's connections end.
const queriesMost = 1000

var brokerNames = map[string]string{"jetstream": "JetStream", "kafka": "Kafka", "nats": "NATS", "postgres": "PostgreSQL"} // by transport

func queriesPage(p *page) error {
	p.say("\nR-GMA is a virtual table: generators INSERT, consumers SELECT. A continuous query gives all that arrives from now on. What is " +
		"nearest today: a stream that keeps messages (JetStream, Kafka), asked or pushing, and a table (PostgreSQL) with INSERT and SELECT. " +
		"ksqlDB, which speaks R-GMA's language over Kafka, is not measured, because no package registry that we use has its server; " +
		"[stream-jobs/ksql](../../stream-jobs/ksql) holds scripts with these queries.")
	for _, write := range []func(*page) error{warmUpSection, secondarySection, continuousSection, querySections} {
		if err := write(p); err != nil {
			return err
		}
	}
	storedQueries(p)
	return nil
}

// queryLines are a consumer's fleets on one node and on three.
func (p *page) queryLines(name string) []line {
	return []line{{"one server", p.series(name)}, {"three nodes", p.series(networkPrefix + name)}}
}

// continuousSection is Figure 11.
func continuousSection(p *page) error {
	p.section("Figure 11", "RTT and STDDEV of continuous queries")
	p.here("The ordinary client libraries, one connection for each generator; consumers that ask every 100 ms as the " +
		"paper's, and beside them consumers that are pushed to. On three nodes each consumer is on another node than its publishers, for RTT2 " +
		"and STDDEV2; the streams have one replica. Times in ms. Asking every 100 ms adds 50 ms on average.")
	var rows [][]string
	var asked, pushed []plot.Panel
	for _, consumer := range consumers {
		for _, each := range p.queryLines(consumer.name) {
			for _, r := range each.records {
				rows = append(rows, append([]string{consumer.title, each.name, format.Count(r.Scenario.Generators)}, timeCells(r)...))
			}
		}
		panel := rttPanel(consumer.title, p.queryLines(consumer.name), queriesMost)
		if consumer.polls {
			asked = append(asked, panel)
		} else {
			pushed = append(pushed, panel)
		}
	}
	if len(rows) == 0 {
		p.missing()
		return nil
	}
	p.table(2, append([]string{"consumer", "on", "connections"}, timeHead...), rows)
	for _, picture := range []struct {
		file, title string
		panels      []plot.Panel
	}{{"figure-11.svg", "Asked every 100 ms: RTT and STDDEV over connections", asked}, {"figure-11-pushed.svg", "Pushed: RTT and STDDEV over connections", pushed}} {
		figure, any := together(picture.title, "The paper's Figure 11; three nodes are its RTT2 and STDDEV2.", "", picture.panels...)
		if _, err := p.show(picture.file, figure, any); err != nil {
			return err
		}
	}
	p.differs("%s", continuousSentence(p))
	return nil
}

func continuousSentence(p *page) string {
	text := "The nodes share one machine, so three of them cannot be faster by their processors, and clocks need no synchronising."
	for _, consumer := range consumers {
		if a, b, ok := sameSize(p.series(consumer.name), p.series(networkPrefix+consumer.name)); ok {
			text += pair(p, a.Point, b.Point, fmt.Sprintf(" %s, %s connections: a median of %%s on one server, %%s on three nodes.", consumer.title,
				format.Count(a.Scenario.Generators)))
		}
	}
	return text
}

// sameSize is the largest pair of fleets with equal numbers of generators.
func sameSize(one, many []Record) (a, b Record, ok bool) {
	for _, here := range slices.Backward(many) {
		for _, there := range one {
			if here.Scenario.Generators == there.Scenario.Generators && here.measured() && there.measured() {
				return there, here, true
			}
		}
	}
	return a, b, false
}

// querySections are Figures 12 to 14.
func querySections(p *page) error {
	if err := queryPercentiles(p, "Figure 12", "percentiles of RTT, one server", "figure-12.svg", ""); err != nil {
		return err
	}
	if err := queryLoad(p); err != nil {
		return err
	}
	return queryPercentiles(p, "Figure 14", "percentiles of RTT, distributed", "figure-14.svg", networkPrefix)
}

func queryPercentiles(p *page, of, title, file, prefix string) error {
	p.section(of, title)
	p.here("The fleets of Figure 11 whose consumers ask every 100 ms. Where a curve ends near 100 ms, the wait for the next question is nearly all of it.")
	var groups []group
	for _, consumer := range consumers {
		if consumer.polls {
			groups = append(groups, group{consumer.title, curvesOf(p.series(prefix+consumer.name), byConnections)})
		}
	}
	figure, any, err := percentiles("Asked every 100 ms: "+title, of, paper.RGMA, groups)
	if err != nil {
		return err
	}
	if shown, err := p.show(file, figure, any); err != nil {
		return err
	} else if !shown {
		p.missing()
	}
	p.differs("%s", largestQueries(p, prefix))
	return nil
}

// largestQueries are the largest fleets whose consumers ask, on one node or on three.
func largestQueries(p *page, prefix string) string {
	text := "Asking every 100 ms accounts for at most 100 ms of the paper's seconds. The largest fleets that were tried:"
	for _, consumer := range consumers {
		if consumer.polls {
			text += taken(p.series(prefix+consumer.name), consumer.title+",")
		}
	}
	return text
}

// queryLoad is Figure 13.
func queryLoad(p *page) error {
	p.section("Figure 13", "CPU idle and memory of continuous queries")
	p.here("The fleets of Figure 11, one machine for brokers and fleet.")
	var rows [][]string
	var panels []plot.Panel
	for _, consumer := range consumers {
		lines := p.queryLines(consumer.name)
		for _, each := range lines {
			for _, r := range each.records {
				rows = append(rows, append([]string{consumer.title, each.name}, loadCells(r)...))
			}
		}
		if consumer.polls {
			panels = append(panels, loadPanels(consumer.title, lines, queriesMost)...)
		}
	}
	if len(rows) == 0 {
		p.missing()
		return nil
	}
	p.table(2, append([]string{"consumer", "on"}, loadHead...), rows)
	figure, any := together("CPU idle and memory over connections", "The paper's Figure 13.", "Memory: peak minus bottom of the machine's used memory.", panels...)
	if _, err := p.show("figure-13.svg", figure, any); err != nil {
		return err
	}
	p.differs("Each of the paper's nodes had a computer of its own, so a network had more processors; here it has no more.%s%s",
		p.loads("push-jetstream-1000", "network-push-jetstream-1000", "one JetStream server"),
		p.loads("push-kafka-1000", "network-push-kafka-1000", "one Kafka broker"))
	return nil
}
