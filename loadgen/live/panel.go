package live

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"lifeline/loadgen/format"
)

// panel redraws a few lines in place and keeps the last minute of the 99th percentile as a curve.
type panel struct {
	to      io.Writer
	columns func() int
	drawn   int // lines on the screen
	history []int64
}

const (
	historySeconds = 60
	barCells       = 24
)

func (p *panel) Show(s Status) {
	if s.Max != 0 {
		p.history = append(p.history, s.P99)
		p.history = p.history[max(0, len(p.history)-historySeconds):]
	}
	var out strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", p.drawn)
	}
	text := p.lines(s)
	for _, line := range text {
		fmt.Fprintf(&out, "\r\x1b[2K%s\n", cut(line, p.columns()-1))
	}
	// Fewer lines than before would leave old ones below.
	out.WriteString("\x1b[J")
	p.drawn = len(text)
	_, _ = io.WriteString(p.to, out.String())
}

// End leaves the panel where it is; what is printed next comes below.
func (p *panel) End() { p.drawn = 0 }

func (p *panel) lines(s Status) []string {
	text := []string{
		strings.TrimSpace(fmt.Sprintf("%s  %s  %s%s", s.Scenario, s.Phase, format.Clock(s.Elapsed), progress(s))),
		fmt.Sprintf("  connections  %s of %s", format.Count(s.Connections), format.Count(s.Generators)),
		fmt.Sprintf("  sent         %-12s %8s/s     received  %-12s %8s/s", format.Count(s.Sent), format.Number(s.SendRate),
			format.Count(s.Received), format.Number(s.ReceiveRate)),
		"  lost         " + strings.Join(append([]string{format.Count(s.Lost)}, extras(s)...), ", "),
	}
	if s.Max != 0 {
		text = append(text, fmt.Sprintf("  RTT          p50 %s   p99 %s   p99.8 %s   greatest %s", format.Duration(float64(s.P50)),
			format.Duration(float64(s.P99)), format.Duration(float64(s.P998)), format.Duration(float64(s.Max))))
	}
	if len(p.history) > 1 {
		least, most := extremes(p.history)
		text = append(text, fmt.Sprintf("  p99, last %2d s  %s  %s to %s", len(p.history), sparks(p.history), format.Duration(float64(least)), format.Duration(float64(most))))
	}
	if !s.watched() {
		return text
	}
	return append(text, fmt.Sprintf("  machine      %s idle   broker %s cores, %s   fleet %s cores, %s", format.Percent(round(s.Idle)),
		format.Number(s.BrokerCPU), format.Bytes(float64(s.BrokerBytes)), format.Number(s.ClientCPU), format.Bytes(float64(s.ClientBytes))))
}

// progress is a bar and the time left, where the end is known.
func progress(s Status) string {
	total := s.Elapsed + s.Left
	if s.Left < 0 || total <= 0 {
		return ""
	}
	done := int(float64(barCells) * float64(s.Elapsed) / float64(total))
	return fmt.Sprintf("  %s%s  %s left", strings.Repeat("━", done), strings.Repeat("─", barCells-done), format.Clock(s.Left))
}

// sparks draws values as blocks on a logarithmic scale: one second of 100 ms must not flatten a minute of 200 µs.
func sparks(values []int64) string {
	const blocks = "▁▂▃▄▅▆▇█"
	steps := []rune(blocks)
	least, most := extremes(values)
	span := logarithm(most) - logarithm(least)
	var out strings.Builder
	for _, value := range values {
		step := 0
		// Less than a factor of two is no news and stays flat.
		if span > math.Ln2 {
			step = int((logarithm(value) - logarithm(least)) / span * float64(len(steps)-1))
		}
		out.WriteRune(steps[step])
	}
	return out.String()
}

func logarithm(ns int64) float64 { return math.Log(float64(max(1, ns))) }

func extremes(values []int64) (least, most int64) {
	least, most = values[0], values[0]
	for _, value := range values {
		least, most = min(least, value), max(most, value)
	}
	return least, most
}

// cut keeps a line within the terminal's width: a wrapped line would break the count of lines to go up.
func cut(line string, columns int) string {
	if columns <= 0 || utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:columns])
}
