package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tree is a scenario's YAML before it becomes a struct: it still knows what was given, and on which line.
type tree struct {
	file     string
	root     *yaml.Node
	changes  []string
	places   map[string]string // of what was given: path -> "file.yaml:3"
	problems []error
}

// parseTree reads YAML and puts the changes ("broker.nodes=3") into it; nothing is checked but YAML's own grammar.
func parseTree(file string, source []byte, changes []string) (*tree, error) {
	t := &tree{file: file, changes: changes, places: map[string]string{}}
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var another yaml.Node
	if err := decoder.Decode(&another); err == nil {
		return nil, fmt.Errorf("%s:%d: a second scenario begins here; give each a file of its own", file, another.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	t.root = &yaml.Node{Kind: yaml.MappingNode, Line: 1}
	if len(document.Content) > 0 && document.Content[0].Tag != "!!null" {
		t.root = document.Content[0]
	}
	for i, change := range changes {
		if err := t.change(change, -1-i); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// change sets one value; its nodes carry the line, which is negative to tell them from the file's.
func (t *tree) change(change string, line int) error {
	path, value, ok := strings.Cut(change, "=")
	if path = strings.TrimSpace(path); !ok || path == "" {
		return fmt.Errorf("--set %s: write KEY=VALUE, such as --set generators=500 or --set broker.nodes=3", change)
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(value), &document); err != nil {
		return fmt.Errorf("--set %s: the value is no YAML: %s", change, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	if len(document.Content) > 0 {
		node = document.Content[0]
	}
	mark(node, line)
	keys := strings.Split(path, ".")
	parent := t.root
	for _, key := range keys[:len(keys)-1] {
		next := child(parent, key)
		if next == nil || next.Kind != yaml.MappingNode {
			next = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line}
			put(parent, key, next, line)
		}
		parent = next
	}
	put(parent, keys[len(keys)-1], node, line)
	return nil
}

func mark(node *yaml.Node, line int) {
	node.Line = line
	for _, inner := range node.Content {
		mark(inner, line)
	}
}

// child is the value of a key in a mapping, or nil.
func child(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func put(mapping *yaml.Node, key string, value *yaml.Node, line int) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content[i].Line, mapping.Content[i+1] = line, value
			return
		}
	}
	name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: line}
	mapping.Content = append(mapping.Content, name, value)
}

// place says where a line is: in the file, or in a change.
func (t *tree) place(line int) string {
	if line < 0 {
		return "--set " + withoutPassword(t.changes[-1-line])
	}
	return fmt.Sprintf("%s:%d", t.file, line)
}

// report adds a problem with the value at path; where nothing was given there, the place is that of what contains it.
func (t *tree) report(path, format string, arguments ...any) {
	place := t.file
	for inner := path; inner != ""; {
		if known, ok := t.places[inner]; ok {
			place = known
			break
		}
		inner = inner[:max(strings.LastIndexAny(inner, ".["), 0)]
	}
	t.problems = append(t.problems, fmt.Errorf("%s: %s: %s", place, path, fmt.Sprintf(format, arguments...)))
}

// given reports whether the file or a change holds a value at path.
func (t *tree) given(path string) bool {
	_, ok := t.places[path]
	return ok
}

func (t *tree) err() error { return errors.Join(t.problems...) }
