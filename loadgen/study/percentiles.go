package study

import (
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/loadgen/study/paper"
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

// refusalSentence is what one broker took, and why a larger fleet was refused.
func refusalSentence(p *page) string {
	text := "NATS and Kafka spend no thread on a connection."
	for _, setup := range []setup{{"single-nats", "One NATS server", ""}, {"single-kafka", "One Kafka broker", ""}} {
		text += taken(p.series(setup.name), setup.title)
		for _, r := range p.series(setup.name) {
			if r.refusal() {
				text += fmt.Sprintf(" %s were refused before the start, for want of %s.", format.Count(r.Scenario.Generators), r.Failure.Cause)
			}
		}
	}
	return text
}

func networkSentence(p *page) string {
	return "The network is no wider in processors than the one broker." + taken(p.series("cluster"), "Three NATS nodes") +
		taken(p.series("cluster-six"), "Six NATS nodes") + taken(p.series("cluster-kafka"), "Three Kafka nodes")
}

// taken says of the largest fleet of a series that lost nothing how fast it was.
func taken(series []Record, title string) string {
	r, ok := largest(series)
	if !ok {
		return ""
	}
	within := format.Duration(r.middle(rtt(99.8)))
	if !r.Valid {
		within += " at most"
	}
	return fmt.Sprintf(" %s took %s connections without loss, 99.8 %% within %s.", title, format.Count(r.Counts.Connections), within)
}
