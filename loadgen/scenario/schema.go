package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"lifeline/loadgen/transport/kind"
)

// schema holds the keywords of JSON schema that ours uses; another one in schema.json fails to decode.
type schema struct {
	Dialect              string             `json:"$schema"`
	ID                   string             `json:"$id"`
	Ref                  string             `json:"$ref"`
	Defs                 map[string]*schema `json:"$defs"`
	Title                string             `json:"title"`
	Description          string             `json:"description"`
	Type                 string             `json:"type"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties *bool              `json:"additionalProperties"`
	Required             []string           `json:"required"`
	Items                *schema            `json:"items"`
	MinItems             *int               `json:"minItems"`
	MaxItems             *int               `json:"maxItems"`
	Enum                 []json.RawMessage  `json:"enum"`
	Pattern              string             `json:"pattern"`
	Minimum              *float64           `json:"minimum"`
	ExclusiveMinimum     *float64           `json:"exclusiveMinimum"`
	Maximum              *float64           `json:"maximum"`
	Examples             []string           `json:"examples"`
}

// root is the outermost object of Schema.
var root = sync.OnceValue(func() *schema {
	decoder := json.NewDecoder(bytes.NewReader(Schema()))
	decoder.DisallowUnknownFields()
	var s schema
	if err := decoder.Decode(&s); err != nil {
		panic("scenario: schema.json: " + err.Error())
	}
	return &s
})

// resolve follows a reference; a description beside it stays that of the property.
func (s *schema) resolve() *schema {
	if s.Ref == "" {
		return s
	}
	return root().Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
}

// check walks a node, notes where each value was given, and reports what the schema forbids.
func (t *tree) check(s *schema, node *yaml.Node, path string) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	s = s.resolve()
	if path != "" {
		t.places[path] = t.place(node.Line)
	}
	switch s.Type {
	case "object":
		t.checkObject(s, node, path)
	case "array":
		t.checkArray(s, node, path)
	default:
		t.checkScalar(s, node, path)
	}
}

func (t *tree) checkObject(s *schema, node *yaml.Node, path string) {
	if node.Kind != yaml.MappingNode {
		t.problems = append(t.problems, fmt.Errorf("%s: %s: write keys and values here, one of %s",
			t.place(node.Line), orWhole(path), known(s)))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		inner := strings.TrimPrefix(path+"."+key.Value, ".")
		property := s.Properties[key.Value]
		switch {
		case property == nil:
			t.problems = append(t.problems, fmt.Errorf("%s: %s: there is no such key; %s", t.place(key.Line), inner, instead(s, key.Value)))
		case seen[key.Value]:
			t.problems = append(t.problems, fmt.Errorf("%s: %s: given twice; keep one", t.place(key.Line), inner))
		case value.Tag == "!!null": // a key without a value, as in a template that was filled in partly
		default:
			t.check(property, value, inner)
		}
		seen[key.Value] = true
	}
	for _, name := range s.Required {
		if given := child(node, name); given == nil || given.Tag == "!!null" {
			t.report(path, "%s is missing (%s)", name, s.Properties[name].Description)
		}
	}
}

func (t *tree) checkArray(s *schema, node *yaml.Node, path string) {
	if node.Kind != yaml.SequenceNode {
		t.report(path, "write a list%s", s.example())
		return
	}
	if n := len(node.Content); s.MinItems != nil && n < *s.MinItems || s.MaxItems != nil && n > *s.MaxItems {
		t.report(path, "has %d values; write %d%s", n, *s.MinItems, s.example())
	}
	for i, item := range node.Content {
		t.check(s.Items, item, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (t *tree) checkScalar(s *schema, node *yaml.Node, path string) {
	value := node.Value
	shown := value // of a value that goes on and on, how it begins
	if len(shown) > 200 {
		shown = strings.ToValidUTF8(shown[:200], "") + "..."
	}
	switch {
	case node.Kind != yaml.ScalarNode:
		t.report(path, "write a single value%s", s.example())
	case s.Enum != nil:
		if choices := s.choices(); !slices.Contains(choices, value) || s.Type == "integer" && node.Tag != "!!int" {
			t.report(path, "%q is not possible; write %s", shown, kind.Either(choices))
		}
	case s.Type == "integer":
		number, err := strconv.ParseInt(value, 10, 64)
		if node.Tag != "!!int" || err != nil {
			t.report(path, "%q is no whole number%s", shown, s.bounds())
			return
		}
		t.checkBounds(s, float64(number), value, path)
	case s.Type == "number":
		number, err := strconv.ParseFloat(value, 64)
		if node.Tag != "!!int" && node.Tag != "!!float" || err != nil {
			t.report(path, "%q is no number%s", shown, s.bounds())
			return
		}
		t.checkBounds(s, number, value, path)
	case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(value):
		t.report(path, "%q is not possible%s", withoutPassword(shown), s.example())
	case node.Tag != "!!str":
		t.report(path, "%s is no text; put it into quotes", value)
	}
}

func (t *tree) checkBounds(s *schema, number float64, value, path string) {
	if s.Minimum != nil && number < *s.Minimum || s.Maximum != nil && number > *s.Maximum ||
		s.ExclusiveMinimum != nil && number <= *s.ExclusiveMinimum {
		t.report(path, "%s is out of range%s", value, s.bounds())
	}
}

func (s *schema) choices() []string {
	choices := make([]string, len(s.Enum))
	for i, choice := range s.Enum {
		choices[i] = strings.Trim(string(choice), `"`)
	}
	return choices
}

func (s *schema) example() string {
	if len(s.Examples) == 0 {
		return ""
	}
	return "; write for example " + strings.Join(s.Examples, " or ")
}

func (s *schema) bounds() string {
	low, high := s.Minimum, s.Maximum
	switch {
	case s.ExclusiveMinimum != nil:
		return fmt.Sprintf("; write one above %v, at most %v", *s.ExclusiveMinimum, *high)
	case low != nil && high != nil:
		return fmt.Sprintf("; write one from %v to %v", int(*low), int(*high))
	case low != nil:
		return fmt.Sprintf("; write one of at least %v", int(*low))
	}
	return ""
}

func known(s *schema) string {
	return strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}

func orWhole(path string) string {
	if path == "" {
		return "the scenario"
	}
	return path
}
