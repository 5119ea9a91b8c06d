package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what a report shows, in both of its forms.
type page struct {
	Title, Lead string
	Good        bool // nothing failed, nothing missed, times to be trusted
	Verdict     []string
	Tiles       []tile
	Foot        string
	pictures    []picture
	tables      []table
}

// tile is a figure to be seen from afar.
type tile struct {
	Value, Name string
	Bad         bool
}

// Pictures and Tables are for the template.
func (p page) Pictures() (all []template.HTML) {
	for _, picture := range p.pictures {
		all = append(all, template.HTML(picture.svg))
	}
	return all
}

func (p page) Tables() template.HTML {
	var all strings.Builder
	for _, table := range p.tables {
		table.html(&all)
	}
	return template.HTML(all.String())
}

// html is one self-contained file: it loads nothing and runs no script.
func (p page) html() []byte {
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		panic("report: the page's template does not fit its data: " + err.Error())
	}
	return out.Bytes()
}

// markdown is for a repository.
func (p page) markdown() []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n", plain(p.Title))
	for _, sentence := range p.Verdict {
		fmt.Fprintf(&out, "%s\n\n", plain(sentence))
	}
	fmt.Fprintf(&out, "%s\n\n%s\n", plain(p.Lead), plain(p.Foot))
	for _, picture := range p.pictures {
		fmt.Fprintf(&out, "\n![%s](%s)\n", plain(picture.title), picture.file)
	}
	for _, table := range p.tables {
		table.markdown(&out)
	}
	return []byte(out.String())
}

// markup is what Markdown takes for more than text: HTML, and links.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", "[", `\[`, "`", "\\`", `\`, `\\`)

// plain is a text that Markdown shows as it is, on one line: names and messages come from scenarios, brokers and machines.
func plain(text string) string { return markup.Replace(format.OneLine(text)) }

// write leaves the page, NAME.html, beside NAME.md and the pictures, and returns its path.
func (p page) write(folder, name string) (path string, err error) {
	for _, picture := range p.pictures {
		if err := write(folder, picture.file, picture.svg); err != nil {
			return "", err
		}
	}
	if err := write(folder, name+".md", p.markdown()); err != nil {
		return "", err
	}
	return filepath.Join(folder, name+".html"), write(folder, name+".html", p.html())
}

func runPage(r result.Result) (page, error) {
	pictures, err := pictures(r)
	return page{
		Title: Name(r), Lead: setting(r), Good: good(r), Verdict: Verdict(r), Tiles: tiles(r), Foot: "Machine: " + machine(r) + ".",
		pictures: pictures,
		tables:   []table{times(r), slowest(r), faults(r), counts(r), resources(r), hosts(r), noise(r), brokerCounters(r), setup(r)},
	}, err
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
