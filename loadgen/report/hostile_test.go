package report

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lifeline/loadgen/result"
	llb "lifeline/schemas/go"
)

// hostile are the names of event types in the corpus of schemas/vectors: what some quoting, path or screen takes for more.
func hostile(t *testing.T) []string {
	t.Helper()
	batch, err := os.ReadFile("../../schemas/vectors/hostile/type-names.llb")
	if err != nil {
		t.Fatal(err)
	}
	var reader llb.Reader
	if err := reader.Read(batch); err != nil {
		t.Fatal(err)
	}
	var names []string
	for reader.Next() {
		names = append(names, reader.Type().Name)
	}
	return names
}

var (
	controls = regexp.MustCompile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
	markedUp = regexp.MustCompile("<(script|img)|(^|[^\\\\])`|!\\[(\\]|[^\\]]*\\]\\(x)")
)

// A result comes from a file, and what is in it from scenarios, brokers and machines.
func TestNamesAndMessagesAreTextInEveryFormOfAReport(t *testing.T) {
	for _, name := range append(hostile(t), "a`b`", "![](x)", "x]](x)") {
		r := sample(name, 800, 1)
		r.Client, r.Machine.CPU, r.Machine.Kernel, r.Broker.Sentence, r.Broker.Before.Name = name, name, name, name, name
		r.Failure = &result.Failure{Cause: result.Cause(name), Message: name}
		r.Hosts = []result.Host{{Name: name}}
		r.Scenario.Broker.URL = name
		compared := Compare([]string{name, "b"}, []result.Result{r, sample("b", 800, 2)})
		folder := t.TempDir()
		if _, err := Write(folder, r); err != nil {
			t.Fatal(err)
		}
		if _, err := compared.Write(filepath.Join(folder, "compared")); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{Text(r), compared.Text()} {
			if found := controls.FindString(text); found != "" {
				t.Errorf("%q: a terminal gets %q", name, found)
			}
		}
		for _, pattern := range []string{"*.md", "*/*.md"} {
			for _, path := range matches(t, folder, pattern) {
				if found := markedUp.FindString(read(t, path)); found != "" {
					t.Errorf("%q: %s has %q", name, filepath.Base(path), found)
				}
				if found := controls.FindString(read(t, path)); found != "" {
					t.Errorf("%q: %s has %q", name, filepath.Base(path), found)
				}
			}
		}
		for _, pattern := range []string{"*.svg", "*/*.svg"} {
			for _, path := range matches(t, folder, pattern) {
				wellFormed(t, name, path)
			}
		}
		for _, path := range append(matches(t, folder, "*.html"), matches(t, folder, "*/*.html")...) {
			if page := read(t, path); strings.Contains(page, "<script") || strings.Contains(page, "onerror=alert(1)>") {
				t.Errorf("%q: %s has HTML of it", name, filepath.Base(path))
			}
		}
	}
}

func matches(t *testing.T, folder, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wellFormed(t *testing.T, name, path string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(read(t, path)))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%q: %s: %v", name, filepath.Base(path), err)
			return
		}
		if element, ok := token.(xml.StartElement); ok && (element.Name.Local == "script" || element.Name.Local == "img") {
			t.Errorf("%q: %s has an element %s", name, filepath.Base(path), element.Name.Local)
		}
	}
}
