package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is one self-contained HTML page: it loads nothing and runs no script.
type page struct {
	Title, Lead string
	Good        bool // nothing failed, nothing missed, times to be trusted
	Verdict     []string
	Tiles       []tile
	Pictures    []template.HTML
	Tables      template.HTML
	Foot        string
}

// tile is a figure to be seen from afar.
type tile struct {
	Value, Name string
	Bad         bool
}

func (p page) html() []byte {
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		panic("report: the page's template does not fit its data: " + err.Error())
	}
	return out.Bytes()
}

func runPage(r result.Result, pictures []picture) []byte {
	var html strings.Builder
	for _, table := range tables(r) {
		table.html(&html)
	}
	return page{
		Title: Name(r), Lead: setting(r), Good: good(r), Verdict: Verdict(r), Tiles: tiles(r),
		Pictures: inline(pictures), Tables: template.HTML(html.String()), Foot: "Machine: " + machine(r) + ".",
	}.html()
}

func good(r result.Result) bool {
	for _, goal := range r.Goals {
		if !goal.Met {
			return false
		}
	}
	return r.Valid && r.Failure == nil && r.Counts.Lost == 0
}

func tiles(r result.Result) []tile {
	all := []tile{
		{Value: format.Count(r.Counts.Connections), Name: "connections", Bad: r.Failure != nil},
		{Value: format.Count(r.Counts.Sent), Name: "messages sent"},
		{Value: format.Count(r.Counts.Lost), Name: "lost", Bad: r.Counts.Lost > 0},
	}
	if r.Counts.Duplicated > 0 {
		all = append(all, tile{Value: format.Count(r.Counts.Duplicated), Name: "duplicated"})
	}
	if rtt := r.Times.RTT; rtt.Count > 0 {
		for _, p := range []float64{50, 99.8, 100} {
			all = append(all, tile{Value: format.Duration(float64(rtt.At(p))), Name: fmt.Sprintf("RTT p%g", p), Bad: !r.Valid})
		}
	}
	return append(all, tile{Value: format.Percent(thousandth(r.Resources.Idle)), Name: "CPU idle"})
}

func inline(pictures []picture) []template.HTML {
	var all []template.HTML
	for _, picture := range pictures {
		all = append(all, template.HTML(picture.svg))
	}
	return all
}
