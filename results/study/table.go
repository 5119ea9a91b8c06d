package study

import (
	"slices"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

// table writes a table of Markdown; the first columns are words, the others figures.
func (p *page) table(words int, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.say("")
	row := func(cells []string) { p.say("| %s |", strings.Join(cells, " | ")) }
	row(head)
	p.say("%s", strings.Repeat("| --- ", words)+strings.Repeat("| ---: ", len(head)-words)+"|")
	for _, cells := range rows {
		row(cells)
	}
}

// padded is a row of that many cells, of which the first have words.
func padded(cells int, words ...string) []string {
	return append(words, make([]string, cells-len(words))...)
}

// timeHead and timeCells are the study's figures of a run, times in milliseconds.
var timeHead = []string{"messages", "lost", "mean", "STDDEV", "p50", "p95", "p99", "p99.8", "p100", "runs", "valid"}

func timeCells(r Record) []string {
	if !r.measured() {
		return padded(len(timeHead), ending(r))
	}
	d := r.Times.RTT
	times := r.bound(format.Millis(d.Mean), format.Millis(d.StdDev), r.millis(rtt(50)), at(d, 95), at(d, 99), r.millis(rtt(99.8)), at(d, 100))
	return slices.Concat([]string{format.Count(r.Counts.Sent), lost(r)}, times, []string{r.runs(), valid(r)})
}

// bound marks times of a point without any valid run: whatever disturbed them made them longer.
func (r Record) bound(times ...string) []string {
	for i := range times {
		if !r.Valid && times[i] != "" {
			times[i] = "≤ " + times[i]
		}
	}
	return times
}

func at(d result.Distribution, percent float64) string { return format.Millis(float64(d.At(percent))) }

func lost(r Record) string {
	if r.Counts.Lost == 0 {
		return "0"
	}
	return format.Count(r.Counts.Lost) + " (" + format.Percent(float64(r.Counts.Lost)/float64(r.Counts.Sent)) + ")"
}

// ending says how a point without times ended.
func ending(r Record) string {
	switch {
	case r.Failure == nil:
		return "nothing arrived"
	case r.refusal():
		return "refused: " + string(r.Failure.Cause)
	}
	return "failed: " + string(r.Failure.Cause)
}

func valid(r Record) string {
	if r.Broke() {
		return ending(r)
	}
	if r.Valid {
		return "yes"
	}
	return "no"
}

// ms is a time with its unit.
func ms(ns int64) string { return format.Duration(float64(ns)) }
