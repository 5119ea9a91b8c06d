package study

import (
	"slices"

	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
	"lifeline/loadgen/study/derived"
)

// secondarySection is Figure 10: what stands for R-GMA's Secondary Producers, which republish what they consume.
func secondarySection(p *page) error {
	p.section("Figure 10", "Primary and Secondary Producer")
	p.here("Generators, each with a connection of its own, publish batches of one event; `lifeline-jobs` runs filter (a condition " +
		"that takes all) and summarise (windows of 1 s) on the same machine; a subscriber takes what they publish. Times in ms.")
	jobs := slices.Concat(p.series("secondary-jetstream"), p.series("secondary-kafka"))
	if len(jobs) == 0 {
		p.missing()
		return nil
	}
	rows, groups := derivedRows(jobs)
	p.table(1, append([]string{"through", "connections"}, timeHead...), rows)
	figure, any, err := percentiles("Through a Secondary Producer, percentiles of RTT", "Figure 10", plot.Mark{X: 100, Y: 35e9, Label: "R-GMA: up to 35 s"}, groups)
	if err != nil {
		return err
	}
	if _, err := p.show("figure-10.svg", figure, any); err != nil {
		return err
	}
	p.differs("Generators publish more often than the paper's, as rows say, for the thousands of messages that p99.8 needs. " +
		"Filter on JetStream publishes a batch as soon as it has read it. On Kafka its output becomes readable when the transaction commits " +
		"that also moves its position, which happens every `checkpoint.interval`, 1 s by default: a deliberate delay too, if shorter than R-GMA's. A " +
		"summary is published when every active emitter has passed its window's end, and an emitter shows that only by its next message, up to " +
		"an interval later.")
	return nil
}

// derivedRows are the table's rows, and for each broker curves of those that have times.
func derivedRows(jobs []Record) (rows [][]string, groups []group) {
	add := func(r Record, on, what string) {
		generators := format.Count(r.Scenario.Generators)
		rows = append(rows, append([]string{on + what, generators}, timeCells(r)...))
		if r.measured() {
			if len(groups) == 0 || groups[len(groups)-1].title != on {
				groups = append(groups, group{title: on})
			}
			of := &groups[len(groups)-1]
			of.curves = append(of.curves, report.Curve{Name: generators + " connections", Distribution: r.Times.RTT})
		}
	}
	for _, r := range jobs {
		on := brokerNames[r.Scenario.Transport]
		add(r, on, ", filter: to the receipt of the derived batch")
		if summaries, ok := r.Beside[derived.ToSummary]; ok && summaries.Count > 0 {
			cells := timeCells(r.as(func(m Measured) result.Distribution { return m.Beside[derived.ToSummary] }))
			cells[0], cells[1] = format.Count(summaries.Count)+" windows", ""
			rows = append(rows, append([]string{on + ", summarise: from a window's end to its summary", format.Count(r.Scenario.Generators)}, cells...))
		}
	}
	return rows, groups
}
