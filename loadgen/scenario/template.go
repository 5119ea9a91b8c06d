package scenario

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Template is a scenario file to begin with: the keys that most people set, and all others as comments, each with its
// description and its default. Descriptions come from the schema and defaults from Default, so the file is never out of date.
func Template(changes ...string) ([]byte, error) {
	given, err := parseTree("the template", nil, changes)
	if err != nil {
		return nil, err
	}
	s, err := Parse("my-fleet", nil, changes...)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	text.WriteString("# A fleet: check this file by `fleet validate FILE`, run it by `fleet run FILE`.\n" +
		"# What is left out, or is a comment, has the default that is shown.\n")
	w := writer{text: &text, set: func(path string) bool {
		switch path {
		case "generators", "interval", "duration", "transport", "objectives":
			return true
		}
		return child(given.root, path) != nil
	}}
	if len(s.Objectives) == 0 {
		none := uint64(0)
		s.Objectives = []Objective{{Within: Seconds(5), Share: 0.995}, {MaxLost: &none}}
	}
	if err := w.object(root(), reflect.ValueOf(s), given.root, 0); err != nil {
		return nil, err
	}
	return []byte(text.String()), nil
}

type writer struct {
	text *strings.Builder
	set  func(path string) bool // of the outermost keys
}

// object writes the keys of a struct in the order of its fields; given is what the caller has chosen, nil for nothing.
func (w writer) object(s *schema, value reflect.Value, given *yaml.Node, depth int) error {
	indent := strings.Repeat("  ", depth)
	for i := range value.NumField() {
		key, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("yaml"), ",")
		property := s.Properties[key]
		var chosen *yaml.Node
		if given != nil {
			chosen = child(given, key)
		}
		mark := indent
		if isSet := chosen != nil || depth == 0 && w.set(key); !isSet {
			mark = indent + "# "
		}
		if depth == 0 {
			w.text.WriteString("\n")
		}
		w.describe(indent, property.Description)
		if inner := property.resolve(); inner.Type == "object" {
			fmt.Fprintf(w.text, "%s:\n", mark+key)
			if err := w.nested(inner, value.Field(i), chosen, mark); err != nil {
				return err
			}
			continue
		}
		shown, err := w.shown(property.resolve(), value.Field(i))
		if err != nil {
			return fmt.Errorf("writing %s: %w", key, err)
		}
		fmt.Fprintf(w.text, "%s\n", strings.TrimRight(mark+key+": "+shown, " "))
	}
	return nil
}

// nested writes an object's keys; below a key that is a comment, all are comments.
func (w writer) nested(s *schema, value reflect.Value, chosen *yaml.Node, mark string) error {
	var inner strings.Builder
	if err := (writer{&inner, w.set}).object(s, value, chosen, 1); err != nil {
		return err
	}
	for line := range strings.Lines(inner.String()) {
		if strings.HasPrefix(mark, "# ") {
			line = "# " + line
		}
		w.text.WriteString(line)
	}
	return nil
}

// shown is a value as one line of YAML; where the default is nothing, an example.
func (w writer) shown(s *schema, value reflect.Value) (string, error) {
	if value.IsZero() && len(s.Examples) > 0 && value.Kind() != reflect.Struct {
		return s.Examples[0], nil
	}
	if value.IsZero() && value.Kind() == reflect.String {
		return "", nil
	}
	var node yaml.Node
	if err := node.Encode(value.Interface()); err != nil {
		return "", err
	}
	node.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&node)
	return strings.TrimSpace(string(text)), err
}

// describe writes a comment, wrapped at about 100 columns.
func (w writer) describe(indent, text string) {
	line := indent + "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 100 {
			fmt.Fprintln(w.text, line)
			line = indent + "#"
		}
		line += " " + word
	}
	fmt.Fprintln(w.text, line)
}
