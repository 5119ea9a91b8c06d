package report

import (
	"fmt"
	"os"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

// Comparison is runs side by side; the first is what the others are measured against.
type Comparison struct {
	Names    []string   `json:"names"`
	Warnings []string   `json:"warnings"` // what forbids or weakens the comparison
	Findings []string   `json:"findings"` // the comparison in words
	Settings []Setting  `json:"settings"` // of the scenarios, client and machine: only what differs
	Measures []Measured `json:"measures"`

	runs []result.Result
}

// Setting is one that differs.
type Setting struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Measured is one quantity of all runs.
type Measured struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"` // "messages", "ns", "bytes", "cores", "share", "connections"
	Values []float64 `json:"values"`
	Ratios []float64 `json:"ratios,omitempty"` // to the first run, for those after it; left out where the first is 0
}

// Compare puts runs side by side; there is a name for each.
func Compare(names []string, runs []result.Result) Comparison {
	c := Comparison{Names: names, runs: runs, Settings: differing(runs), Warnings: []string{}} // lists in JSON even where empty
	for i, r := range runs {
		if len(r.Invalid) > 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s is not valid: %s.", names[i], strings.Join(r.Invalid, "; ")))
		}
		if r.Failure != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s failed (%s): %s", names[i], r.Failure.Cause, r.Failure.Message))
		}
		if r.Partial {
			c.Warnings = append(c.Warnings, names[i]+" was ended early.")
		}
		if r.Machine != runs[0].Machine {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s ran on another machine than %s: their times do not compare.", names[i], names[0]))
		}
	}
	for i, r := range runs[1:] {
		c.Findings = append(c.Findings, finding(names[0], runs[0], names[i+1], r))
	}
	for _, m := range comparands {
		measured := Measured{Name: m.name, Unit: m.unit}
		any := false
		for i := range runs {
			value := m.of(&runs[i])
			any = any || value != 0
			measured.Values = append(measured.Values, value)
		}
		if !any && !m.always {
			continue
		}
		if first := measured.Values[0]; first != 0 {
			for _, value := range measured.Values[1:] {
				measured.Ratios = append(measured.Ratios, value/first)
			}
		}
		c.Measures = append(c.Measures, measured)
	}
	return c
}

// finding compares where the study does: the time within which 99.8 % of the messages arrived, and what was lost.
func finding(nameA string, a result.Result, nameB string, b result.Result) string {
	for _, run := range []struct {
		name string
		result.Result
	}{{nameB, b}, {nameA, a}} {
		if run.Times.RTT.Count == 0 {
			return fmt.Sprintf("%s delivered nothing, so %s and %s do not compare.", run.name, nameB, nameA)
		}
	}
	share := func(r result.Result) string {
		return format.Percent(float64(r.Counts.Lost) / float64(max(1, r.Counts.Sent)))
	}
	lost := "neither lost any"
	if a.Counts.Lost+b.Counts.Lost > 0 {
		lost = fmt.Sprintf("they lost %s and %s", share(b), share(a))
	}
	timesA, timesB := float64(a.Times.RTT.At(99.8)), float64(b.Times.RTT.At(99.8))
	return fmt.Sprintf("%s brought 99.8 %% of its messages within %s, %s within %s; %s.",
		nameB, format.Duration(timesB), nameA, format.Duration(timesA), lost)
}

func (c Comparison) tables() []table {
	head := append([]string{""}, c.Names...)
	settings := table{title: "What was different", head: head, words: len(head)}
	for _, setting := range c.Settings {
		settings.add(append([]string{setting.Key}, setting.Values...)...)
	}
	measured := table{title: "What came of it", head: head}
	for _, name := range c.Names[1:] {
		ratio := "ratio"
		if len(c.Names) > 2 {
			ratio = name + " / " + c.Names[0]
		}
		measured.head = append(measured.head, ratio)
	}
	for _, m := range c.Measures {
		row := []string{m.Name}
		for i := range m.Values {
			row = append(row, m.cell(i))
		}
		for i := range c.Names[1:] {
			ratio := ""
			if m.Ratios != nil && row[i+2] != "" {
				ratio = format.Number(m.Ratios[i])
			}
			row = append(row, ratio)
		}
		measured.add(row...)
	}
	return []table{settings, measured}
}

// Text is for a terminal.
func (c Comparison) Text() string {
	var out strings.Builder
	for _, sentence := range c.sentences() {
		out.WriteString(format.OneLine(sentence) + "\n")
	}
	for _, table := range c.tables() {
		if len(table.rows) > 0 {
			out.WriteString("\n")
			table.text(&out)
		}
	}
	return strings.TrimLeft(out.String(), "\n")
}

// Write leaves the comparison as page, Markdown and pictures in a folder, and returns the path of the page.
func (c Comparison) Write(folder string) (path string, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", fmt.Errorf("making the comparison's folder: %w", err)
	}
	pictures, err := c.pictures()
	if err != nil {
		return "", err
	}
	return page{
		Title: strings.Join(c.Names, " and "), Lead: "Runs of the generator fleet side by side.", Good: len(c.Warnings) == 0,
		Verdict: c.sentences(), Foot: "Machine: " + machine(c.runs[0]) + ".", pictures: pictures, tables: c.tables(),
	}.write(folder, "compare")
}

func (c Comparison) sentences() []string {
	return append(append([]string(nil), c.Warnings...), c.Findings...)
}

func (c Comparison) pictures() ([]picture, error) {
	var curves []Curve
	for i, r := range c.runs {
		curves = append(curves, Curve{Name: c.Names[i], Distribution: r.Times.RTT})
	}
	tail, err := Percentiles("The slowest twentieth", "RTT: within what time the given share of messages arrived.", curves)
	if err != nil {
		return nil, err
	}
	whole, err := Distribution("All messages", "RTT: within what time the given share of messages arrived.", curves)
	if err != nil {
		return nil, err
	}
	spans := Decomposition("Where the time goes", c.Names, c.runs)
	all := []picture{
		{"compare-percentiles.svg", tail.Title, tail.SVG()},
		{"compare-distribution.svg", whole.Title, whole.SVG()},
		{"compare-decomposition.svg", spans.Title, spans.SVG()},
	}
	if setups := Setups(c.runs); len(setups) < len(c.runs) {
		rtt := RTTByConnections("RTT against connections", "", setups)
		load := LoadByConnections("Processor and memory against connections", "", setups)
		all = append(all, picture{"compare-rtt.svg", rtt.Title, rtt.SVG()}, picture{"compare-load.svg", load.Title, load.SVG()})
	}
	return all, nil
}
