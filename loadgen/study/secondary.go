package study

import (
	"fmt"

	"lifeline/loadgen/format"
	"lifeline/loadgen/report"
	"lifeline/loadgen/study/derived"
)

// derivedStreams are the successors of R-GMA's Secondary Producers (Figure 10).
func derivedStreams(p *page) error {
	var rows [][]string
	var curves []report.Curve
	for _, r := range append(p.series("secondary-jetstream"), p.series("secondary-kafka")...) {
		generators := format.Count(r.Scenario.Generators)
		on := map[string]string{"jetstream": "JetStream", "kafka": "Kafka"}[r.Scenario.Transport]
		rows = append(rows, append([]string{on + ", filter: to the receipt of the derived batch", generators}, timeCells(r)...))
		if summaries, ok := r.Beside[derived.ToSummary]; ok && summaries.Count > 0 {
			of := r
			of.Times.RTT = summaries
			cells := timeCells(of)
			cells[0], cells[1] = format.Count(summaries.Count)+" windows", ""
			rows = append(rows, append([]string{on + ", summarise: from a window's end to its summary", generators}, cells...))
		}
		if r.measured() {
			curves = append(curves, report.Curve{Name: fmt.Sprintf("%s, %s generators", on, generators), Distribution: r.Times.RTT})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	p.say("\n## Derived streams: Secondary Producers (Figure 10)")
	p.paragraph("Generators publish batches of one event; `lifeline-jobs` runs filter (a condition that takes all) and " +
		"summarise (windows of 1 s) on the same machine; a subscriber takes what they publish. Times in ms.")
	p.table(1, append([]string{"through", "generators"}, timeHead...), rows)
	p.paragraph("R-GMA's Secondary Producer delayed data by up to 35 s, 30 of them on purpose. Filter on JetStream hands a batch on as soon as it " +
		"has read it; on Kafka with the transaction that also moves its position. A summary cannot be early: it is published when every emitter that is active has passed its window's end, and an " +
		"emitter shows that only by its next message, so here it waits about one interval. ksqlDB is not measured: no server is part of " +
		"this repository; [its scripts](../../stream-jobs/ksql/README.md) run on yours.")
	if len(curves) == 0 {
		return nil
	}
	figure, err := report.Percentiles("Through the job filter, percentiles of RTT", "The study's Figure 10.", curves, report.PaperPercentiles(), report.PaperNote)
	if err != nil {
		return err
	}
	return p.picture("3-secondary.svg", figure.Title, figure.SVG())
}
