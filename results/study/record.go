package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// Record is a point as it was measured. Its JSON is a result of `fleet run` with some keys more, so `fleet compare` and
// `fleet report` read it too.
type Record struct {
	Point    string `json:"point"`
	Form     string `json:"form"`
	Command  string `json:"command"`
	Attempts int    `json:"attempts"`
	Measured
}

func (r Record) write(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("making the study's folder: %w", err)
	}
	r.Noise.Busiest = nil // records are published; the names of other programs on the machine are private
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("writing point %s: %w", r.Point, err)
	}
	// Under another name first: a study that is killed leaves whole files alone.
	file := filepath.Join(folder, r.Point+".json")
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o666); err != nil {
		return fmt.Errorf("writing point %s: %w", r.Point, err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("writing point %s: %w", r.Point, err)
	}
	return nil
}

func readRecord(file string) (Record, error) {
	var r Record
	text, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("reading a point: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading %s: %w", file, err)
	}
	return r, nil
}

// readRecords reads all points that were measured, by their ids.
func readRecords(folder string) (map[string]Record, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("looking for points in %s: %w", folder, err)
	}
	all := map[string]Record{}
	for _, file := range files {
		r, err := readRecord(file)
		if err != nil {
			return nil, err
		}
		all[r.Point] = r
	}
	return all, nil
}

// sameScenario compares what both would write into their files.
func (r Record) sameScenario(s scenario.Scenario) bool {
	old, err := json.Marshal(r.Scenario)
	if err != nil {
		return false
	}
	asked, err := json.Marshal(s)
	return err == nil && bytes.Equal(old, asked)
}

// refusal reports whether the fleet was refused before anything was started, which another run would only repeat.
func (r Record) refusal() bool {
	if r.Failure == nil {
		return false
	}
	switch r.Failure.Cause {
	case result.Descriptors, result.Ports, result.Memory, result.Conntrack:
		return true
	}
	return false
}

// measured reports whether the record has times.
func (r Record) measured() bool { return r.Times.RTT.Count > 0 }

// sentence is the record in a line of progress.
func (r Record) sentence() string {
	if r.Broke() {
		return fmt.Sprintf("failed (%s): %s", r.Failure.Cause, firstLine(r.Failure.Message))
	}
	text := fmt.Sprintf("%s sent, %s lost, p50 %s, p99.8 %s", format.Count(r.Counts.Sent), format.Count(r.Counts.Lost),
		format.Duration(float64(r.Times.RTT.At(50))), format.Duration(float64(r.Times.RTT.At(99.8))))
	if r.Failure != nil {
		text += "; " + r.Failure.Message
	}
	if !r.Valid {
		text += "; not valid: " + strings.Join(r.Invalid, "; ")
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
