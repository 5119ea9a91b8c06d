package study

import (
	"fmt"
	"slices"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/report"
	"lifeline/loadgen/study/derived"
)

// derivedStreams are the successors of R-GMA's Secondary Producers (Figure 10).
func derivedStreams(p *page) error {
	jobs := slices.Concat(p.series("secondary-jetstream"), p.series("secondary-kafka"))
	ksqlDB := slices.Concat(p.series("secondary-ksqldb"), p.series("continuous-ksqldb"))
	if len(jobs)+len(ksqlDB) == 0 {
		return nil
	}
	p.say("\n## Derived streams: Secondary Producers (Figure 10)")
	if len(jobs) > 0 {
		p.paragraph("Generators publish batches of one event; `lifeline-jobs` runs filter (a condition that takes all) and " +
			"summarise (windows of 1 s) on the same machine; a subscriber takes what they publish. Times in ms.")
	}
	rows, curves := derivedRows(jobs, ksqlDB)
	p.table(1, append([]string{"through", "generators"}, timeHead...), rows)
	text := "R-GMA's Secondary Producer delayed data by up to 35 s, 30 of them on purpose."
	if len(jobs) > 0 {
		text += " Filter on JetStream hands a batch on as soon as it " +
			"has read it; on Kafka with the transaction that also moves its position. A summary cannot be early: it is published when every emitter that is active has passed its window's end, and an " +
			"emitter shows that only by its next message, so here it waits about one interval."
	}
	p.paragraph("%s %s", text, ofKsqlDB(ksqlDB))
	if len(curves) == 0 {
		return nil
	}
	figure, err := report.Percentiles("Through a Secondary Producer, percentiles of RTT", "The study's Figure 10.", curves, report.PaperPercentiles(), report.PaperNote)
	if err != nil {
		return err
	}
	return p.picture("3-secondary.svg", figure.Title, figure.SVG())
}

// derivedRows are the table's rows, and curves of those that have times.
func derivedRows(jobs, ksqlDB []Record) (rows [][]string, curves []report.Curve) {
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
	for _, r := range ksqlDB {
		if strings.HasPrefix(r.Point, "continuous") {
			add(r, "ksqlDB over HTTP", ", continuous query: to the receipt of the row")
		} else {
			add(r, "ksqlDB", ", standing query: to the receipt of the derived row")
		}
	}
	return rows, curves
}

// ofKsqlDB says what stands behind ksqlDB's rows, or how to get them.
func ofKsqlDB(records []Record) string {
	found := slices.IndexFunc(records, Record.measured)
	if found < 0 {
		return "ksqlDB is not measured: no server is part of this repository; [its scripts](../../stream-jobs/ksql/README.md) run on yours, " +
			"and `fleet study --out FOLDER --ksqldb URL --kafka URL --only '*-ksqldb-*'` measures it."
	}
	r := records[found]
	return fmt.Sprintf("ksqlDB's rows went %s: generators' readings in JSON of %s bytes, into `SELECT * FROM ... "+
		"WHERE generator >= 0 EMIT CHANGES` with the server's own settings, whose rows a stream publishes, or HTTP brings. What "+
		"publishes is Kafka Streams, which gathers what it writes for 100 ms unless `ksql.streams.producer.linger.ms` says "+
		"otherwise. Server and Kafka were not started for the study, so where they ran and what else they did is not in its "+
		"data.", r.Client, format.Number(r.Bytes.PerMessage))
}
