package study

import (
	"slices"
	"strings"

	"lifeline/loadgen/study/paper"
)

const (
	paperLead   = "**The paper**"
	hereLead    = "**Here.** "
	differsLead = "**Where we differ.** "
	notMeasured = "Not measured yet."
)

// section begins the section of a table or a figure of the paper with what the paper says of it.
func (p *page) section(of, title string) {
	heading := of + ": " + title
	p.sections = append(p.sections, heading)
	p.say("\n## %s", heading)
	p.paper(of)
}

// paper says all facts about a table or figure, with the sections that they are in.
func (p *page) paper(about string) {
	var sections, statements []string
	for _, fact := range paper.About(about) {
		if !slices.Contains(sections, fact.Where) {
			sections = append(sections, fact.Where)
		}
		statements = append(statements, fact.Says)
	}
	p.paragraph("%s (%s). %s", paperLead, strings.Join(sections, ", "), strings.Join(statements, " "))
}

// paperSays is the one fact about a part of a table.
func paperSays(about string) string { return paper.About(about)[0].Says }

func (p *page) here(form string, values ...any)    { p.paragraph(hereLead+form, values...) }
func (p *page) differs(form string, values ...any) { p.paragraph(differsLead+form, values...) }

// missing says of a section that it has no measurement.
func (p *page) missing() { p.paragraph("%s", notMeasured) }

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// anchor is what a link to a heading ends with.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == ' ', r == '-':
			return r
		}
		return -1
	}, strings.ToLower(heading)), " ", "-")
}
