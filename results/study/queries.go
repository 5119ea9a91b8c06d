package study

import (
	"fmt"
	"slices"

	"lifeline/loadgen/format"
	"lifeline/loadgen/report"
)

// consumers are the successors of the study's R-GMA consumers.
var consumers = []struct{ name, title string }{
	{"push-jetstream", "JetStream, pushed"},
	{"poll-jetstream", "JetStream, asked every 100 ms"},
	{"push-kafka", "Kafka, the consumer waits at the broker"},
	{"poll-kafka", "Kafka, asked every 100 ms"},
}

func queriesPage(p *page) error {
	p.say("R-GMA had three kinds of queries: continuous (all that arrives from now on), latest (the newest value) and history (what was "+
		"published within the last minute); its subscribers could not be notified and asked every 100 ms. Its Secondary Producers "+
		"republished what they consumed. %s", paperSource)
	p.table(1, []string{"the study (R-GMA)", "connections", "round trips", "lost"}, [][]string{
		{"Primary Producer and Consumer, one server", "500; refused 800", "99 % within 4 s", "0"},
		{"the same on four nodes", "1,000", "faster than one server", "0"},
		{"Primary and Secondary Producer", "50 to 200", "up to 35 s, 30 s of them deliberate", ""},
	})
	if err := continuous(p); err != nil {
		return err
	}
	storedQueries(p)
	return derivedStreams(p)
}

var brokerNames = map[string]string{"jetstream": "JetStream", "kafka": "Kafka"} // by transport

// continuous compares push with polling (Figures 11, 12 and 14).
func continuous(p *page) error {
	var rows [][]string
	var setups []report.Setup
	var curves []report.Curve
	for _, consumer := range consumers {
		records := p.series(consumer.name)
		for _, r := range records {
			rows = append(rows, append([]string{consumer.title, format.Count(r.Scenario.Generators)}, timeCells(r)...))
		}
		if len(records) > 0 {
			setups = append(setups, report.Setup{Name: consumer.title, Runs: results(records)})
		}
		if r, ok := largest(records); ok {
			curves = append(curves, report.Curve{Name: fmt.Sprintf("%s, %s", consumer.title, format.Count(r.Counts.Connections)), Distribution: r.Times.RTT})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	p.say("\n## Continuous queries: pushed, and asked for every 100 ms (Figures 11, 12 and 14)")
	p.paragraph("Times in ms; the ordinary client libraries, one connection for each generator. The polling consumer adds what the study " +
		"called its error of 100 ms: evenly drawn, so 50 ms on average.")
	p.table(1, append([]string{"consumer", "connections"}, timeHead...), rows)
	p.paragraph("%s", continuousSentence(p))
	if slices.ContainsFunc(setups, func(s report.Setup) bool { return len(s.Runs) > 1 }) {
		figure := report.RTTByConnections("Push and polling, RTT over connections", "The study's Figure 11.", setups)
		if err := p.picture("3-rtt.svg", figure.Title, figure.SVG()); err != nil {
			return err
		}
	}
	if len(curves) == 0 {
		return nil
	}
	figure, err := percentiles("Push and polling, percentiles of RTT", "The study's Figures 12 and 14.", curves)
	if err != nil {
		return err
	}
	return p.picture("3-percentiles.svg", figure.Title, figure.SVG())
}

func continuousSentence(p *page) string {
	text := "The study's 4 s were the middleware's, not the polling's: "
	found := false
	for _, broker := range []string{"jetstream", "kafka"} {
		if r, ok := largest(p.series("poll-" + broker)); ok {
			if found {
				text += "; "
			}
			text += fmt.Sprintf("polled from %s, %s connections, 99 %% of messages arrive within %s", brokerNames[broker], format.Count(r.Counts.Connections), ms(r.Times.RTT.At(99)))
			found = true
		}
	}
	if !found {
		return ""
	}
	return text + ". A consumer that is pushed to does not pay the wait at all."
}
