package paper

import (
	"os"
	"strings"
	"testing"
)

// variable names a copy of the paper's text, which this repository cannot hold.
const variable = "LIFELINE_PAPER"

func TestEachNumberOfAFactIsInItsFragments(t *testing.T) {
	for _, fact := range Facts() {
		known := Numbers(strings.Join(fact.Text, " "))
		for number := range Numbers(fact.Says) {
			if !known[number] {
				t.Errorf("%s: %q has %s, which no fragment has", fact.About, fact.Says, number)
			}
		}
		if len(fact.Text) == 0 || fact.Says == "" || fact.Where == "" {
			t.Errorf("%+v is not complete", fact)
		}
	}
}

func TestPointsInPicturesAreFacts(t *testing.T) {
	known := map[string]bool{}
	for _, fact := range Facts() {
		for number := range Numbers(strings.Join(fact.Text, " ")) {
			known[number] = true
		}
	}
	labels := []string{Narada.Label, RGMA.Label}
	for _, limit := range Limits() {
		labels = append(labels, limit.Label)
	}
	for _, label := range labels {
		for number := range Numbers(label) {
			if !known[number] {
				t.Errorf("%q: no fact has %s", label, number)
			}
		}
	}
}

func TestEachFragmentIsInThePaper(t *testing.T) {
	file := os.Getenv(variable)
	if file == "" {
		t.Skipf("%s is not set: only the facts were held to their fragments, not the fragments to the paper's text", variable)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := plain(string(content))
	for _, fact := range Facts() {
		for _, fragment := range fact.Text {
			if !strings.Contains(text, plain(fragment)) {
				t.Errorf("%s (%s): the paper does not say %q", fact.About, fact.Where, fragment)
			}
		}
	}
}

// plain is a text in one line, without what its conversion from a print added: TeX around ranges, marks around italics.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("$", "", `\sim`, " ~ ", "*", "", "’", "'", "‘", "'").Replace(text)), " ")
}
