package study

import "lifeline/loadgen/format"

var batchRows = []struct{ id, name string }{
	{"nats", "core NATS, the study's message alone"},
	{"nats-batch-1", "core NATS, batches of 1 event"},
	{"nats-batch-10", "core NATS, of 10"},
	{"nats-batch-1000", "core NATS, of 1,000"},
	{"kafka-all", "Kafka, the study's message alone"},
	{"kafka-batch-1", "Kafka, batches of 1 event"},
	{"kafka-batch-10", "Kafka, of 10"},
	{"kafka-batch-1000", "Kafka, of 1,000"},
}

// batchTable is beyond the paper: what Lifeline's own format adds.
func batchTable(p *page) {
	var rows [][]string
	for _, row := range batchRows {
		if r, ok := p.record("table2-" + row.id); ok && r.measured() {
			rows = append(rows, append([]string{row.name, format.Number(r.Bytes.PerMessage), format.Number(r.Bytes.PerEvent),
				format.Bytes(rate(r) * r.Bytes.PerMessage)}, timeCells(r)...))
		}
	}
	if len(rows) == 0 {
		return
	}
	p.say("\n## Beyond the paper: the same message in Lifeline batches")
	p.paragraph("A batch carries what a reader needs to decode it, so the bytes per event fall with the events of a batch. Generators publish as " +
		"often as with single messages, so batches of 1,000 are a load of its own: *payload/s* is what all generators publish.")
	p.table(1, append([]string{"here", "bytes per message", "per event", "payload/s"}, timeHead...), rows)
}
