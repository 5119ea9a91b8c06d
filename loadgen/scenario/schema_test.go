package scenario

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var patterns = map[string]*regexp.Regexp{}

// compiled remembers patterns: compiling them anew took most of this test's time.
func compiled(pattern string) *regexp.Regexp {
	if patterns[pattern] == nil {
		patterns[pattern] = regexp.MustCompile(pattern)
	}
	return patterns[pattern]
}

// accepts is what an editor with a JSON schema of its own makes of a value: it shares nothing with the loader but the text of
// schema.json.
func accepts(t *testing.T, whole, s map[string]any, value any) bool {
	t.Helper()
	number, isNumber := value.(float64)
	text, isText := value.(string)
	list, isList := value.([]any)
	object, isObject := value.(map[string]any)
	for keyword, says := range s {
		ok := true
		switch keyword {
		case "$schema", "$id", "$defs", "title", "description", "examples":
		case "$ref":
			ok = accepts(t, whole, whole["$defs"].(map[string]any)[strings.TrimPrefix(says.(string), "#/$defs/")].(map[string]any), value)
		case "type":
			ok = map[any]bool{"object": isObject, "array": isList, "string": isText, "number": isNumber,
				"integer": isNumber && number == math.Trunc(number)}[says]
		case "properties":
			for key, inner := range object {
				if property, known := says.(map[string]any)[key].(map[string]any); known {
					ok = ok && accepts(t, whole, property, inner)
				}
			}
		case "additionalProperties":
			for key := range object {
				_, known := s["properties"].(map[string]any)[key]
				ok = ok && (known || says == true)
			}
		case "required":
			for _, key := range says.([]any) {
				_, given := object[key.(string)]
				ok = ok && (given || !isObject)
			}
		case "items":
			for _, item := range list {
				ok = ok && accepts(t, whole, says.(map[string]any), item)
			}
		case "minItems":
			ok = !isList || float64(len(list)) >= says.(float64)
		case "maxItems":
			ok = !isList || float64(len(list)) <= says.(float64)
		case "enum":
			ok = slices.ContainsFunc(says.([]any), func(choice any) bool { return reflect.DeepEqual(choice, value) })
		case "pattern":
			ok = !isText || compiled(says.(string)).MatchString(text)
		case "minimum":
			ok = !isNumber || number >= says.(float64)
		case "exclusiveMinimum":
			ok = !isNumber || number > says.(float64)
		case "maximum":
			ok = !isNumber || number <= says.(float64)
		default:
			t.Fatalf("this test does not know the keyword %s", keyword)
		}
		if !ok {
			return false
		}
	}
	return true
}

// imagined is a value that the schema may accept or not: mostly one of the right kind, often at a limit.
func imagined(random *rand.Rand, s *schema, depth int) any {
	s = s.resolve()
	if random.IntN(12) == 0 {
		odd := []any{"", "x", "10s", "5", "0.5", "true", "null", -1, 0, 1, 3, 1.5, true, []any{}, []any{"1s", "2s"}, map[string]any{}, map[string]any{"at": "1s"}}
		return odd[random.IntN(len(odd))]
	}
	switch {
	case s.Type == "object":
		object := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) { // in an order that is always the same
			if random.IntN(1+depth) == 0 {
				object[key] = imagined(random, s.Properties[key], depth)
			}
		}
		if random.IntN(20) == 0 {
			object["no-such-key"] = 1
		}
		return object
	case s.Type == "array":
		list := make([]any, random.IntN(4))
		for i := range list {
			list[i] = imagined(random, s.Items, 1)
		}
		return list
	case s.Enum != nil:
		var choice any
		_ = json.Unmarshal(s.Enum[random.IntN(len(s.Enum))], &choice)
		return choice
	case s.Type == "integer" || s.Type == "number":
		near := []float64{0, 1, 0.995, 100}
		for _, limit := range []*float64{s.Minimum, s.ExclusiveMinimum, s.Maximum} {
			if limit != nil {
				near = append(near, *limit-1, *limit, *limit+1)
			}
		}
		return near[random.IntN(len(near))]
	case len(s.Examples) > 0:
		return s.Examples[random.IntN(len(s.Examples))]
	}
	return "a text"
}

func TestTheLoaderAndASchemaInAnEditorAcceptTheSameFiles(t *testing.T) {
	var whole map[string]any
	if err := json.Unmarshal(Schema(), &whole); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 3000 {
		file, err := json.Marshal(imagined(random, root(), 1+random.IntN(8)))
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(file, &document); err != nil {
			t.Fatal(err)
		}
		tree, err := parseTree("f.yaml", file, nil) // JSON is YAML
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		tree.check(root(), tree.root, "")
		if want := accepts(t, whole, whole, document); want != (tree.err() == nil) {
			t.Fatalf("%s\nby the schema: %t, by the loader: %v", file, want, tree.err())
		}
		if tree.err() == nil {
			accepted++
			var s Scenario
			if err := tree.root.Decode(&s); err != nil {
				t.Errorf("%s is accepted and cannot be read: %v", file, err)
			}
		}
	}
	if accepted < 300 || accepted > 2700 {
		t.Errorf("%d of 3000 were accepted: such files test one side alone", accepted)
	}
}
