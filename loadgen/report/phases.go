package report

import (
	"lifeline/loadgen/format"
	"lifeline/loadgen/plot"
	"lifeline/loadgen/result"
)

// Decomposition draws when, on average, the publishing call returned, the message was there, and it was delivered, for each of
// the runs.
func Decomposition(title string, names []string, runs []result.Result) plot.Spans {
	figure := plot.Spans{
		Title:    title,
		Subtitle: "Means over all messages, counted from before sending. Service time = PRT + PT + SRT.",
		Text:     format.Tick,
		Lanes:    []string{"PRT: the publishing call", "PT: from its return until the message is here", "SRT: until it is delivered"},
	}
	negative := false
	for i, r := range runs {
		t := r.Times
		if t.PRT.Count == 0 {
			continue
		}
		sent := t.PRT.Mean
		here := sent + t.PT.Mean
		figure.Rows = append(figure.Rows, plot.Row{Name: names[i], Spans: []plot.Span{
			{From: 0, To: sent}, {From: sent, To: here}, {From: here, To: here + t.SRT.Mean},
		}})
		negative = negative || t.PT.Mean < 0
	}
	if negative {
		figure.Note = "Hollow: PT is negative, the message was there before the publishing call had returned."
	}
	return figure
}
