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
	median := func(of func(Run) float64) string { return format.Millis(r.middle(of)) }
	times := r.bound(median(mean), median(deviation), r.millis(rtt(50)), r.percentile(95, median), r.percentile(99, median),
		r.percentile(99.8, r.millis), at(r.Times.RTT, 100))
	return slices.Concat([]string{format.Count(r.Counts.Sent), lost(r)}, times, []string{r.runs(), valid(r)})
}

// percentile is a table's cell; empty where runs have so few messages that it would be their slowest one.
func (r Record) percentile(percent float64, cell func(of func(Run) float64) string) string {
	for _, run := range r.used() {
		if float64(run.Times.RTT.Count)*(1-percent/100) < 1 {
			return ""
		}
	}
	return cell(rtt(percent))
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
