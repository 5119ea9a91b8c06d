package main

import (
	"path/filepath"
	"strings"
	"testing"

	"lifeline/loadgen/systemtest"
)

func TestSeveralRunsAreMadeAndCompared(t *testing.T) {
	systemtest.Mark(t)
	out := filepath.Join(t.TempDir(), "report")
	f := &fleet{temp: t.TempDir()}
	text, err := f.program("run", "--generators", "5", "--interval", "100ms", "--set", "initial_sleep=[0s, 0s]", "--duration", "1s",
		"--runs", "2", "--repeat", "0", "--out", out).Output()
	if err != nil || strings.Count(string(text), "\nfleet: connections=5 ") != 2 || !strings.Contains(string(text), "\n2 runs, ") {
		t.Fatalf("%v\n%s", err, text)
	}
	if files, _ := filepath.Glob(filepath.Join(out, "*", "result.json")); len(files) != 2 {
		t.Fatalf("%v", files)
	}
	runs, err := readSeries(out)
	if err != nil || len(runs) != 2 || runs[0].Counts.Connections != 5 {
		t.Errorf("%v, %d runs", err, len(runs))
	}
}

func TestWhatBelongsTogetherInACommand(t *testing.T) {
	for _, arguments := range [][]string{
		{"compare", "--before", "a"}, {"compare", "--before", "a", "--after", "b", "c"}, {"compare", "--before", "a", "--after", "b", "--out", "c"},
		{"run", "demo", "--runs", "0"}, {"run", "demo", "--runs", "2", "--json"},
	} {
		if code, text := printed(t, arguments...); code != 2 {
			t.Errorf("%v: exit %d, %s", arguments, code, text)
		}
	}
}
