// Package report turns a result into what people read: a page with pictures, Markdown, and the JSON that everything else
// is made from.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lifeline/loadgen/result"
)

// Names of the files that Write leaves in a folder.
const (
	JSONName     = "result.json"
	MarkdownName = "report.md"
	PageName     = "report.html"
)

// Prepare makes the folder of a report, if need be, and sees that files can be written there: ask before a run of which nothing
// else would stay.
func Prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("making the report's folder: %w", err)
	}
	trial, err := os.CreateTemp(folder, ".trial-")
	if err != nil {
		return fmt.Errorf("writing into the report's folder: %w", err)
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// Write makes the folder, if need be, and leaves all forms of a report in it. It returns the page's path.
func Write(folder string, r result.Result) (page string, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", fmt.Errorf("making the report's folder: %w", err)
	}
	r.Format = result.Format
	// First what cannot be made again.
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", fmt.Errorf("writing the result: %w", err)
	}
	if err := write(folder, JSONName, append(text, '\n')); err != nil {
		return "", err
	}
	p, err := runPage(r)
	if err != nil {
		return "", err
	}
	return p.write(folder, strings.TrimSuffix(PageName, ".html"))
}

// Read takes a result.json, or the folder that holds one.
func Read(path string) (result.Result, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, JSONName)
	}
	var r result.Result
	text, err := os.ReadFile(path)
	if err != nil {
		return r, fmt.Errorf("reading a result: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading %s: it is no result of `fleet run`: %w", path, err)
	}
	if r.Format != result.Format {
		return r, fmt.Errorf("reading %s: format %d, but this program reads format %d", path, r.Format, result.Format)
	}
	return r, nil
}

func write(folder, name string, content []byte) error {
	// Readers see the old file or the new one: a page may be open in a browser that reloads it.
	temporary, err := os.CreateTemp(folder, "."+name+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(folder, name))
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// picture is a figure with its file.
type picture struct {
	file, title string
	svg         []byte
}

// pictures are those of one run; those that would be empty are left out.
func pictures(r result.Result) ([]picture, error) {
	var all []picture
	if r.Times.RTT.Count > 0 {
		curves := []Curve{{Name: "RTT", Distribution: r.Times.RTT}, {Name: "service time", Distribution: r.Times.ServiceTime, Dashed: true}}
		subtitle := fmt.Sprintf("%s. Within what time the given share of messages made the round trip.", Name(r))
		tail, err := Percentiles("The slowest twentieth", subtitle, curves)
		if err != nil {
			return nil, err
		}
		whole, err := Distribution("All messages", subtitle, append(curves, Curve{Name: "generators' lateness", Distribution: r.Times.Lateness}))
		if err != nil {
			return nil, err
		}
		all = append(all, picture{"percentiles.svg", tail.Title, tail.SVG()}, picture{"distribution.svg", whole.Title, whole.SVG()})
	}
	if len(r.Timeline) > 1 {
		timeline := Timeline(r)
		all = append(all, picture{"timeline.svg", timeline.Title, timeline.SVG()})
	}
	if spans := Decomposition("Where the time goes", []string{Name(r)}, []result.Result{r}); len(spans.Rows) > 0 {
		all = append(all, picture{"decomposition.svg", spans.Title, spans.SVG()})
	}
	return all, nil
}
