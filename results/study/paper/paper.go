// Package paper is what the text of the study gives.
package paper

import "lifeline/loadgen/plot"

// Title is the study whose tests the fleet repeats.
const Title = "C. Huang, P. R. Hobson, G. A. Taylor, P. Kyberd: A Study of Publish/Subscribe Systems for Real-Time Grid Monitoring"

// Note goes below pictures that show the study's figures.
const Note = "Rings: what the study's text gives. The curves of its figures are not in its text and are not drawn."

// Finding is one figure of the study, as its text gives it.
type Finding struct {
	Where string // section or figure
	What  string
	Value string
}

// Findings are all figures that the study's text gives of its measurements.
var Findings = []Finding{
	{"III.B", "CPU idle of a machine that simulates 750 generators (75 messages/s, less than 50 kB/s)", "above 85 %"},
	{"III.E.1, test 1", "UDP: 143,914 of 144,000 messages received, lost", "0.06 %"},
	{"III.E.1, test 2", "UDP, acknowledged by the client, lost", "0.03 %"},
	{"III.E.1, tests 3 to 6", "NIO, TCP, triple payload, 80 connections, lost", "none"},
	{"III.E.2", "NaradaBrokering, one broker and a network of three: messages within 100 ms", "99.8 %"},
	{"III.E.2", "NaradaBrokering, broker network: connections accepted", "more than 4,000"},
	{"III.E.2", "NaradaBrokering, one broker: connections that it did not accept any more (out of memory for threads)", "4,000"},
	{"III.E.3", "NaradaBrokering, one broker: most connections", "2,500"},
	{"Figure 8", "NaradaBrokering, one broker: connections of the curves", "500 to 3,000"},
	{"Figure 9", "NaradaBrokering, broker network: connections of the curves", "2,000 to 4,000"},
	{"III.F.1", "R-GMA, 400 generators that do not wait: 71,876 of 72,000 messages received, lost", "0.17 %"},
	{"III.F.1", "R-GMA, Primary Producer and Consumer: messages within 4 s", "99 %"},
	{"III.F.1", "R-GMA, Primary Producer and Consumer: lost", "none"},
	{"III.F.1", "R-GMA, Primary and Secondary Producer: delay (30 s of them deliberate)", "up to 35 s"},
	{"III.F.1", "R-GMA, one server: connections that it did not accept any more", "800"},
	{"III.F.3", "R-GMA, one Producer: most connections", "500"},
	{"III.F.1", "R-GMA, four nodes: connections accepted", "1,000, \"and could be even more\""},
}

// Percentiles are the study's two points on a curve of RTT over percentiles.
func Percentiles() []plot.Mark {
	return []plot.Mark{
		{X: 99.8, Y: 100e6, Label: "NaradaBrokering: 99.8 % within 100 ms"},
		{X: 99, Y: 4e9, Label: "R-GMA: 99 % within 4 s"},
	}
}

// Limits are the study's limits on an axis of connections.
func Limits() []plot.Rule {
	return []plot.Rule{
		{At: 800, Vertical: true, Label: "R-GMA, one server: refuses 800"},
		{At: 2500, Vertical: true, Label: "NaradaBrokering, one broker: at most 2,500"},
		{At: 4000, Vertical: true, Label: "NaradaBrokering, network: drawn to 4,000"},
	}
}
