package llb_test

import (
	"testing"

	llb "lifeline/schemas/go"
)

func TestEachByteOutsideAWellFormedSequenceBecomesOneReplacementCharacter(t *testing.T) {
	for raw, want := range map[string]string{
		"plain":                     "plain",
		"\xe2\x82\xac":              "€",
		"\xe2\x82":                  "\ufffd\ufffd",
		"\xe2\x82A":                 "\ufffd\ufffdA",
		"\xc0\x80":                  "\ufffd\ufffd",
		"\xed\xa0\x80":              "\ufffd\ufffd\ufffd",
		"\xf4\x90\x80\x80":          "\ufffd\ufffd\ufffd\ufffd",
		"na\xefve \xf0\x9f\x98\x80": "na\ufffdve 😀",
	} {
		if got := llb.Text([]byte(raw)); got != want {
			t.Errorf("%x: got %q, want %q", raw, got, want)
		}
	}
}
