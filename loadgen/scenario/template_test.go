package scenario

import (
	"reflect"
	"strings"
	"testing"
)

func TestATemplateIsTheScenarioThatItsOptionsAskFor(t *testing.T) {
	for _, changes := range [][]string{
		nil,
		{"transport=kafka", "broker.nodes=3", "generators=5"},
		{"broker.url=nats://a:4222,b:4222", "message.kind=batch", "message.events=10"},
		{"transport=jetstream", "subscribers.poll=100ms", "objectives=[{max_lost: 3}]"},
	} {
		template, err := Template(changes...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("my-fleet", template)
		if err != nil {
			t.Fatalf("%v: %v\n%s", changes, err, template)
		}
		want, err := Parse("my-fleet", nil, changes...)
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Objectives) == 0 {
			want.Objectives = got.Objectives // the template suggests some
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v:\n got %+v\nwant %+v", changes, got, want)
		}
	}
}

func TestATemplateShowsEveryKeyWithItsDescription(t *testing.T) {
	template, err := Template()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(template), "#", "")), " ")
	for key, property := range root().Properties {
		if want := strings.ReplaceAll(property.Description, "#", "") + " " + key + ":"; !strings.Contains(text, want) {
			t.Errorf("lacks %q", want)
		}
	}
}

func TestAMistakeInAnOptionMakesNoTemplate(t *testing.T) {
	if template, err := Template("transport=udp"); err == nil {
		t.Errorf("got %s", template)
	}
}
