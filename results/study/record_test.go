package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

func TestARecordNamesNoOtherProgramOfTheMachine(t *testing.T) {
	folder := t.TempDir()
	run := found(scenario.Default())
	run.Noise.Others, run.Noise.Busiest = 0.25, []result.Process{{Name: "postgres", ID: 12, Cores: 0.2}}
	r := Record{Point: "a"}
	for range 2 {
		if err := r.add(run, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.write(folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "a.json"))
	if err != nil || strings.Contains(string(text), "postgres") || !strings.Contains(string(text), `"others":0.25`) {
		t.Errorf("%v\n%s", err, text)
	}
}
