package scenario

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"lifeline/loadgen/scenarios"
)

// Load reads a scenario: from a file, from standard input ("-"), a built-in one by its name ("demo"), or no file at all
// (""). Changes such as "broker.nodes=3" replace what the file says. The error names every mistake, with its line and what
// to write instead.
func Load(path string, changes ...string) (Scenario, error) {
	name, source, err := read(path)
	if err != nil {
		return Scenario{}, err
	}
	return Parse(name, source, changes...)
}

func read(path string) (name string, source []byte, err error) {
	switch {
	case path == "":
		return "fleet", nil, nil
	case path == "-":
		source, err = readSome(os.Stdin)
		return "stdin", source, err
	}
	source, err = readFile(path)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(path, "./") {
		if source, err = scenarios.Files.ReadFile(path + ".yaml"); err != nil {
			return "", nil, fmt.Errorf("%s is neither a file nor one of the built-in scenarios, which are %s", path, strings.Join(BuiltIn(), ", "))
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("reading the scenario: %w", err)
	}
	return path, source, nil
}

// MaxBytes is what a scenario may have: a parser takes several times as much memory.
const MaxBytes = 1 << 20

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readSome(file)
}

// readSome reads no more than it takes to see that it is too much.
func readSome(from io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(from, MaxBytes+1)) }

// BuiltIn are the names of the scenarios that come with the program, sorted.
func BuiltIn() []string {
	entries, err := scenarios.Files.ReadDir(".")
	if err != nil {
		panic("scenario: " + err.Error()) // the files are in the binary
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	return names
}

// Parse is Load of YAML that was read already; file is what errors call it.
func Parse(file string, source []byte, changes ...string) (Scenario, error) {
	if len(source) > MaxBytes {
		return Scenario{}, fmt.Errorf("%s: a scenario has at most %d bytes", file, MaxBytes)
	}
	t, err := parseTree(file, source, changes)
	if err != nil {
		return Scenario{}, err
	}
	t.check(root(), t.root, "")
	if err := t.err(); err != nil {
		return Scenario{}, err
	}
	s := Default()
	s.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if err := t.root.Decode(&s); err != nil {
		return Scenario{}, fmt.Errorf("%s: %w", file, err)
	}
	s.complete()
	s.check(t.report)
	return s, t.err()
}

// Complete fills in what a scenario made in Go from Default leaves open, and checks it by the rules of files.
func (s *Scenario) Complete() error {
	var problems []error
	s.complete()
	s.check(func(path, format string, arguments ...any) {
		problems = append(problems, fmt.Errorf("%s: %s: %s", s.Name, path, fmt.Sprintf(format, arguments...)))
	})
	return errors.Join(problems...)
}
