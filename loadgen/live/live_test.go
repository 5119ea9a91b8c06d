package live

import (
	"os"
	"strings"
	"testing"
	"time"
)

func status(second int) Status {
	p99 := int64(380_000)
	for range second {
		p99 *= 3
	}
	return Status{
		Scenario: "demo", Phase: "measuring", Elapsed: time.Duration(second) * time.Second, Left: time.Duration(60-second) * time.Second,
		Connections: 800, Generators: 1000, Sent: 12_345, Received: 12_340, Lost: 2, Duplicated: 3, SendRate: 80, ReceiveRate: 79.5,
		P50: 180_000, P99: p99, P998: 2 * p99, Max: 4 * p99, Idle: 0.917, BrokerCPU: 0.11, ClientCPU: 0.08,
		BrokerBytes: 55_000_000, ClientBytes: 46_000_000,
	}
}

func TestALogGetsALineEveryFiveSecondsAndOneForEachPhase(t *testing.T) {
	var log strings.Builder
	view := &lines{to: &log}
	for second := range 11 {
		view.Show(status(second))
	}
	draining := status(11)
	draining.Phase, draining.Left = "draining", -1
	view.Show(draining)
	want := "0:00 measuring: connections 800/1,000, sent 12,345 (80.0/s), received 12,340 (79.5/s), lost 2, duplicated 3, " +
		"RTT ms p50 0.180 p99 0.380 p99.8 0.760, machine 92 % idle, 1:00 left"
	got := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(got) != 4 || got[0] != want || !strings.HasPrefix(got[3], "0:11 draining: ") || strings.HasSuffix(got[3], "left") {
		t.Errorf("%d lines:\n%s", len(got), log.String())
	}
}

func TestATerminalIsRedrawnInPlace(t *testing.T) {
	var screen strings.Builder
	view := &panel{to: &screen, columns: func() int { return 60 }}
	first := status(1)
	first.Max = 0
	view.Show(first)
	before := screen.Len()
	view.Show(status(2))
	view.Show(status(3))
	view.End()
	if again := screen.String()[before:]; !strings.HasPrefix(again, "\x1b[5A\r") || !strings.Contains(again, "\x1b[6A\r") {
		t.Errorf("the cursor does not go up by the lines drawn: %q", again)
	}
	for _, line := range strings.Split(screen.String(), "\n") {
		if text := line[strings.LastIndex(line, "K")+1:]; len([]rune(text)) > 59 {
			t.Errorf("%q wraps at 60 columns", text)
		}
	}
	if !strings.Contains(screen.String(), "▁█") {
		t.Errorf("no curve of the 99th percentile: %q", screen.String())
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, plain := New(file).(*lines); !plain {
		t.Error("a file would be filled with cursor movements")
	}
}
