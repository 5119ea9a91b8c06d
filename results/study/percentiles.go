package study

import (
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/results/study/paper"
)

// percentileSections are Figures 8 and 9.
func percentileSections(p *page) error {
	for _, section := range []struct {
		of, title, file, here string
		groups                []group
		differs               func(*page) string
	}{
		{"Figure 8", "percentiles of RTT, one broker", "figure-8.svg", "The fleets of Figure 7 on one broker.", []group{
			{"One NATS server", curvesOf(upTo(paperMost, p.series("single-nats")), byConnections)},
			{"One Kafka broker", curvesOf(upTo(paperMost, p.series("single-kafka")), byConnections)},
		}, refusalSentence},
		{"Figure 9", "percentiles of RTT, network of brokers", "figure-9.svg", "The fleets of Figure 7 on three nodes.", []group{
			{"Three NATS nodes, Figure 5's topology", curvesOf(upTo(paperMost, p.series("cluster-apart")), byConnections)},
			{"Three NATS nodes, subscribers on their publishers' node", curvesOf(upTo(paperMost, p.series("cluster")), byConnections)},
			{"Three Kafka brokers", curvesOf(upTo(paperMost, p.series("cluster-kafka")), byConnections)},
		}, networkSentence},
	} {
		p.section(section.of, section.title)
		p.here("%s", section.here)
		figure, any, err := percentiles(upperFirst(section.title), section.of, paper.Narada, section.groups)
		if err != nil {
			return err
		}
		if shown, err := p.show(section.file, figure, any); err != nil {
			return err
		} else if !shown {
			p.missing()
		}
		p.differs("%s", section.differs(p))
	}
	return nil
}

func refusalSentence(p *page) string {
	text := "Today's brokers spend no thread on a connection; what ends first is the number of files that a process may open, and a fleet that " +
		"needs more is refused before it starts."
	for _, setup := range []struct{ name, title string }{{"single-nats", "one NATS server"}, {"single-kafka", "one Kafka broker"}} {
		if r, ok := largest(p.series(setup.name)); ok {
			text += fmt.Sprintf(" %s took %s connections without loss.", upperFirst(setup.title), format.Count(r.Counts.Connections))
		}
	}
	return text
}

func networkSentence(p *page) string {
	text := "The network is no wider in processors than the one broker."
	for _, name := range []string{"cluster", "cluster-six", "cluster-kafka"} {
		if r, ok := largest(p.series(name)); ok {
			text += fmt.Sprintf(" %d %s nodes took %s connections without loss, 99.8 %% within %s.", r.Scenario.Broker.Nodes,
				setup{name: name}.broker(), format.Count(r.Counts.Connections), format.Duration(r.middle(rtt(99.8))))
		}
	}
	return text
}
