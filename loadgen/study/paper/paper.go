// Package paper is what the text of the study gives, as facts: what pages say beside the fragments of the text that say so.
// The text itself belongs to its authors and is not here; a test holds the fragments to a copy of it.
package paper

import "lifeline/loadgen/plot"

// Title is the study whose tests the fleet repeats.
const Title = "C. Huang, P. R. Hobson, G. A. Taylor, P. Kyberd: A Study of Publish/Subscribe Systems for Real-Time Grid Monitoring"

// Fact is one statement of the paper.
type Fact struct {
	About string   // what pages look it up by: a table, a figure, a part of one such as "Table I, CPU"
	Where string   // section of the paper
	Says  string   // the statement in our words; each of its numbers is in Text
	Text  []string // fragments of the paper that say so, no longer than it takes to find them; without line breaks and TeX
}

// About lists the facts about a table, a figure or a part of one, in the order of the paper.
func About(what string) []Fact {
	var all []Fact
	for _, each := range Facts() {
		if each.About == what {
			all = append(all, each)
		}
	}
	return all
}

// Facts are all of them.
func Facts() []Fact {
	var all []Fact
	for _, part := range [][]Fact{environment, comparison, brokers, warmUp, queries, conclusions} {
		all = append(all, part...)
	}
	return all
}

// The paper's two points on a curve of RTT over percentiles, for figures of one of the systems.
var (
	Narada = plot.Mark{X: 99.8, Y: 100e6, Label: "NaradaBrokering: 99.8 % within 100 ms"}
	RGMA   = plot.Mark{X: 99, Y: 4e9, Label: "R-GMA: 99 % within 4,000 ms"}
)

// Limits are the paper's limits on an axis of connections.
func Limits() []plot.Rule {
	return []plot.Rule{
		{At: 800, Vertical: true, Label: "R-GMA, one server: refuses 800"},
		{At: 2500, Vertical: true, Label: "NaradaBrokering, one broker: at most 2,500"},
		{At: 4000, Vertical: true, Label: "NaradaBrokering, one broker: refuses 4,000"},
	}
}
