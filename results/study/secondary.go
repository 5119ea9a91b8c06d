package study

import (
	"fmt"
	"slices"

	"lifeline/loadgen/format"
	"lifeline/loadgen/report"
	"lifeline/results/study/derived"
)

// derivedStreams are the successors of R-GMA's Secondary Producers (Figure 10).
func derivedStreams(p *page) error {
	jobs := slices.Concat(p.series("secondary-jetstream"), p.series("secondary-kafka"))
	if len(jobs) == 0 {
		return nil
	}
	p.say("\n## Derived streams: Secondary Producers (Figure 10)")
	if len(jobs) > 0 {
		p.paragraph("Generators publish batches of one event; `lifeline-jobs` runs filter (a condition that takes all) and " +
			"summarise (windows of 1 s) on the same machine; a subscriber takes what they publish. Times in ms.")
	}
	rows, curves := derivedRows(jobs)
	p.table(1, append([]string{"through", "generators"}, timeHead...), rows)
	text := "R-GMA's Secondary Producer delayed data by up to 35 s, 30 of them on purpose."
	if len(jobs) > 0 {
		text += " Filter on JetStream hands a batch on as soon as it " +
			"has read it; on Kafka with the transaction that also moves its position. A summary cannot be early: it is published when every emitter that is active has passed its window's end, and an " +
			"emitter shows that only by its next message, so here it waits about one interval."
	}
	p.paragraph("%s", text)
	if len(curves) == 0 {
		return nil
	}
	figure, err := percentiles("Through a Secondary Producer, percentiles of RTT", "The study's Figure 10.", curves)
	if err != nil {
		return err
	}
	return p.picture("3-secondary.svg", figure.Title, figure.SVG())
}

// derivedRows are the table's rows, and curves of those that have times.
func derivedRows(jobs []Record) (rows [][]string, curves []report.Curve) {
	add := func(r Record, on, what string) {
		generators := format.Count(r.Scenario.Generators)
		rows = append(rows, append([]string{on + what, generators}, timeCells(r)...))
		if r.measured() {
			curves = append(curves, report.Curve{Name: fmt.Sprintf("%s, %s generators", on, generators), Distribution: r.Times.RTT})
		}
	}
	for _, r := range jobs {
		on := brokerNames[r.Scenario.Transport]
		add(r, on, ", filter: to the receipt of the derived batch")
		if summaries, ok := r.Beside[derived.ToSummary]; ok && summaries.Count > 0 {
			of := r
			of.Times.RTT = summaries
			cells := timeCells(of)
			cells[0], cells[1] = format.Count(summaries.Count)+" windows", ""
			rows = append(rows, append([]string{on + ", summarise: from a window's end to its summary", format.Count(r.Scenario.Generators)}, cells...))
		}
	}
	return rows, curves
}
