package report

import (
	"strings"
	"testing"

	"lifeline/loadgen/result"
)

func TestEveryHostOfAFleetIsInTheReport(t *testing.T) {
	r := sample("hosts", 800, 1)
	if text := markdownOf(t, r); strings.Contains(text, "## Hosts") {
		t.Error("a table of hosts of a fleet on one machine")
	}
	for _, h := range []struct {
		name  string
		drift int64
	}{{"first.example:7070", 20_000}, {"second.example:7070", -30_000}} {
		r.Hosts = append(r.Hosts, result.Host{Name: h.name, Machine: r.Machine, Generators: 400, Counts: result.Counts{Connections: 400, Sent: 4800},
			RTT: r.Times.RTT, Lateness: r.Times.Lateness, Noise: r.Noise,
			ClockBegin: result.Offset{Nanos: 5e9, Error: 210_000}, ClockEnd: result.Offset{Nanos: 5e9 + h.drift, Error: 210_000}})
	}
	text := markdownOf(t, r)
	for _, want := range []string{
		"| first.example:7070 | 400 | 1 | 400 | 4,800 | 0 |", "| ± 210 µs | 20.0 µs |", "| second.example:7070 | 400 |", "| ± 210 µs | -30.0 µs |",
		"| first.example:7070 | 0.050 of 0.150 |", "2 hosts together, AMD EPYC",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func markdownOf(t *testing.T, r result.Result) string {
	t.Helper()
	page, err := runPage(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(page.markdown())
}
