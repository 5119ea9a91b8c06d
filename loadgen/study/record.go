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

// Record is a point as it was measured: a summary of each run, and the runs taken together. Its JSON is a result of `fleet run` with
// some keys more, so `fleet compare` and `fleet report` read it too.
type Record struct {
	Point   string `json:"point"`
	Command string `json:"command"` // of one run
	Measured
	Runs []Run `json:"runs"` // in the order in which they were made
}

func (r Record) write(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("making the study's folder: %w", err)
	}
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

// readRecord reads a point's file. One without runs is from the time when a point was one run.
func readRecord(file string) (Record, error) {
	var r Record
	text, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("reading a point: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading %s: %w", file, err)
	}
	if len(r.Runs) == 0 {
		r.Runs = []Run{runOf(r.Measured)}
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
func (m Measured) refusal() bool {
	if m.Failure == nil {
		return false
	}
	switch m.Failure.Cause {
	case result.Descriptors, result.Ports, result.Memory, result.Conntrack:
		return true
	}
	return false
}

// measured reports whether there are times.
func (m Measured) measured() bool { return m.Times.RTT.Count > 0 }

// sentence is a run in a line of progress.
func (m Measured) sentence() string {
	if m.Broke() {
		return fmt.Sprintf("failed (%s): %s", m.Failure.Cause, firstLine(m.Failure.Message))
	}
	text := fmt.Sprintf("%s sent, %s lost, p50 %s, p99.8 %s", format.Count(m.Counts.Sent), format.Count(m.Counts.Lost),
		format.Duration(float64(m.Times.RTT.At(50))), format.Duration(float64(m.Times.RTT.At(99.8))))
	if m.Failure != nil {
		text += "; " + m.Failure.Message
	}
	if !m.Valid {
		text += "; not valid: " + strings.Join(m.Invalid, "; ")
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
