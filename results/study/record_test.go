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
	r := Record{Point: "a", Measured: found(scenario.Default())}
	r.Noise.Others, r.Noise.Busiest = 0.25, []result.Process{{Name: "postgres", ID: 12, Cores: 0.2}}
	if err := r.write(folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "a.json"))
	if err != nil || strings.Contains(string(text), "postgres") || !strings.Contains(string(text), `"others":0.25`) {
		t.Errorf("%v\n%s", err, text)
	}
}
