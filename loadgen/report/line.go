package report

import (
	"fmt"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

// Line is how every run ends: for scripts, in one line of fixed form. Times are milliseconds with three decimals.
func Line(r result.Result) string {
	c, t := r.Counts, r.Times
	return fmt.Sprintf("fleet: connections=%d sent=%d unsent=%d refused=%d received=%d lost=%d away=%d duplicated=%d p50_ms=%.3f p998_ms=%.3f "+
		"service_p998_ms=%.3f broker=%s valid=%t", c.Connections, c.Sent, c.Unsent(), c.Refused, c.Received, c.Lost, c.Away, c.Duplicated,
		float64(t.RTT.At(50))/1e6, float64(t.RTT.At(99.8))/1e6, float64(t.ServiceTime.At(99.8))/1e6, r.Broker.Verdict(), r.Valid)
}

// Text is what a run prints at its end, before the line: the verdict and the times.
func Text(r result.Result) string {
	var out strings.Builder
	for _, sentence := range Verdict(r) {
		out.WriteString(format.OneLine(sentence) + "\n")
	}
	if times := times(r); len(times.rows) > 0 {
		out.WriteString("\n")
		times.text(&out)
	}
	return out.String()
}

// Verdict says in a few sentences what the run found, worst first.
func Verdict(r result.Result) []string {
	var said []string
	say := func(form string, values ...any) { said = append(said, fmt.Sprintf(form, values...)) }
	if r.Failure != nil {
		say("Failed (%s): %s", r.Failure.Cause, r.Failure.Message)
	}
	if r.Partial {
		say("Ended early: these are the figures up to then.")
	}
	if r.Counts.Sent > 0 {
		say("%s", delivered(r))
	}
	if r.Stalls.Count > 0 {
		say("%s", stalled(r))
	}
	for _, goal := range r.Goals {
		say("%s", goalSentence(goal, r.Counts.Lost))
	}
	for _, outage := range r.Faults {
		say("%s", outageSentence(outage))
	}
	if r.Broker.Sentence != "" {
		verdict := map[string]string{"agree": "agree", "differ": "differ", "unknown": "could not be compared"}[r.Broker.Verdict()]
		say("The broker's own counters %s: %s.", verdict, strings.TrimSuffix(r.Broker.Sentence, "."))
	}
	for _, remark := range r.Remarks {
		say("Remark: %s", strings.TrimSuffix(remark, ".")+".")
	}
	if len(r.Invalid) > 0 && r.Counts.Sent > 0 {
		said = append(said, map[bool]string{true: "These figures are invalid.", false: "These times are invalid."}[len(r.Disputed) > 0])
		for _, reason := range r.Invalid {
			say("%s", sentence(reason))
		}
		if r.Noise.Busiest != nil {
			say("The busiest other processes: %s.", named(r.Noise.Busiest))
		}
	}
	return said
}

func delivered(r result.Result) string {
	text := fmt.Sprintf("%s on %s published %s, ", format.Some(r.Scenario.Generators, "generator"),
		format.Some(r.Counts.Connections, "connection"), format.Some(r.Counts.Sent, "message"))
	if lost := r.Counts.Lost; lost == 0 && r.Failure != nil && r.Failure.Cause == result.WorkerExit {
		text += "what was lost is not known"
	} else if lost == 0 {
		text += "none was lost"
	} else {
		were := map[bool]string{true: "was", false: "were"}[lost == 1]
		text += fmt.Sprintf("%s %s lost (%s)", format.Count(lost), were, format.Percent(float64(lost)/float64(r.Counts.Sent)))
		text += losses(r.Counts)
	}
	if unsent := r.Counts.Unsent(); unsent > 0 {
		text += fmt.Sprintf("; %s could not be published (%s failed, %s because their generator was busy)", format.Count(unsent),
			format.Count(r.Counts.Failed), format.Count(r.Counts.Skipped))
	}
	if refused := r.Counts.Refused; refused > 0 {
		text += fmt.Sprintf("; %s were acknowledged with an error", format.Count(refused))
	}
	if rtt := r.Times.RTT; rtt.Count > 0 {
		text += fmt.Sprintf("; half made the round trip within %s, 99.8 %% within %s", format.Duration(float64(rtt.At(50))), format.Duration(float64(rtt.At(99.8))))
	}
	return text + "."
}

// losses says whose the losses are.
func losses(c result.Counts) string {
	var parts []string
	for _, part := range []struct {
		count uint64
		words string
	}{
		{c.LostAcknowledged, "acknowledged by the broker and not delivered"},
		{c.Undelivered, "published and not delivered"},
		{c.Unacknowledged, "never acknowledged"},
		{c.Away, "published while the fleet's own subscriber was disconnected"},
		{c.Unclear, "within a second of that, so that nobody can tell"},
	} {
		if part.count > 0 {
			parts = append(parts, format.Count(part.count)+" "+part.words)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// stalled says what stalls of the machine have to do with the times.
func stalled(r result.Result) string {
	messages, share := underWayInStalls(r)
	text := fmt.Sprintf("A core of the machine stood still %s, for up to %s; %s (%s) were under way meanwhile", format.Some(r.Stalls.Count, "time"),
		format.Duration(float64(r.Stalls.Longest[0].Length)), format.Some(messages, "message"), format.Percent(share))
	if calm := r.Times.RTTWithoutStalls; messages > 0 && calm.Count > 0 {
		text += fmt.Sprintf(", and without those 99.8 %% made the round trip within %s", format.Duration(float64(calm.At(99.8))))
	}
	return text + "."
}

// named are processes with the cores that each used.
func named(processes []result.Process) string {
	var names []string
	for _, p := range processes {
		names = append(names, fmt.Sprintf("%s (process %d) with %.2f cores", p.Name, p.ID, p.Cores))
	}
	return strings.Join(names, ", ")
}

func goalSentence(goal result.Goal, lost uint64) string {
	met := map[bool]string{true: "met", false: "missed"}[goal.Met]
	o := goal.Objective
	var asked []string
	if o.Within.Duration > 0 {
		asked = append(asked, fmt.Sprintf("%s within %s: %s were", format.Percent(o.Share), format.Span(o.Within.Duration), format.Percent(goal.Share)))
	}
	if o.MaxLost != nil {
		limit := "none lost"
		if *o.MaxLost > 0 {
			limit = fmt.Sprintf("at most %s lost", format.Count(*o.MaxLost))
		}
		asked = append(asked, fmt.Sprintf("%s: %s were", limit, format.Count(lost)))
	}
	return fmt.Sprintf("Objective %s: %s.", met, strings.Join(asked, "; "))
}

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

func outageSentence(o result.Outage) string {
	text := fmt.Sprintf("%s, %s after the first message: ", faultName(o), format.Tick(o.At*1e9))
	lost := format.Count(o.LostDuring) + " lost meanwhile"
	silence, ended := o.Silence()
	recovery, recovered := o.Recovery()
	switch {
	case !ended:
		text += "no more deliveries, " + lost
	case !recovered:
		text += "deliveries were not as before until the end, " + lost
	case recovery < noticeable:
		text += "deliveries did not fall"
	default:
		text += fmt.Sprintf("no delivery for %s, all as before after %s, %s", format.Tick(silence*1e9), format.Tick(recovery*1e9), lost)
	}
	return sentence(text)
}

// noticeable is the shortest recovery in seconds that a history of tenths of seconds can tell from none.
const noticeable = 0.1
