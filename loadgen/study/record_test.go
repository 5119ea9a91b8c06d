package study

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lifeline/loadgen/host"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

func TestARecordNamesNoOtherProgramOfTheMachine(t *testing.T) {
	folder := t.TempDir()
	run := found(scenario.Default())
	run.Noise.Others, run.Noise.Busiest = 0.25, []result.Process{{Name: "postgres", ID: 12, Cores: 0.2}}
	run.Invalid = host.Judge(run.Noise, result.Distribution{})
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
	if err != nil || strings.Contains(string(text), "postgres") || !strings.Contains(string(text), `"others":0.25`) ||
		!strings.Contains(string(text), "other processes used 0.25 cores") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestNothingPublishedNamesAProcessOfTheMachine(t *testing.T) {
	process := regexp.MustCompile(`\(process \d+\)|"pid":`)
	files := 0
	err := filepath.WalkDir("../../results/fleet", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if found := process.Find(text); found != nil {
			t.Errorf("%s has %q", path, found)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
	records, err := readRecords("../../results/fleet/data")
	for id, r := range records {
		if r.Noise.Busiest != nil {
			t.Errorf("%s names %v", id, r.Noise.Busiest)
		}
	}
	if err != nil || len(records) == 0 {
		t.Errorf("%d records, %v", len(records), err)
	}
}
