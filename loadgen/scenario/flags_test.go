package scenario

import (
	"flag"
	"io"
	"strings"
	"testing"
)

// optioned loads what a command line alone describes.
func optioned(t *testing.T, arguments ...string) (Scenario, error) {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	var flags Flags
	flags.Register(set)
	if err := set.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	return Load("", flags.Changes()...)
}

func TestAnOptionsTextIsTakenAsItIs(t *testing.T) {
	for _, text := range []string{"me", "123", "null", "true", "2026-11-21", "it's #1", "a: b", "*", "{}", "~/key"} {
		s, err := optioned(t, "--url", "nats://a", "--user", text, "--password-file", text)
		if err != nil || s.Broker.User != text || s.Broker.PasswordFile != text {
			t.Errorf("%q became %q, %v", text, s.Broker.User, err)
		}
	}
}

func TestAnEmptyOptionIsAMistakeAndNotTheDefault(t *testing.T) {
	for _, option := range []string{"--url", "--transport", "--interval"} {
		if _, err := optioned(t, option, ""); err == nil || !strings.Contains(err.Error(), `"" is not possible`) {
			t.Errorf("%s: %v", option, err)
		}
	}
}

func TestAnOptionsNumberIsANumber(t *testing.T) {
	if s, err := optioned(t, "--generators", "5", "--nodes", "3"); err != nil || s.Generators != 5 || s.Broker.Nodes != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := optioned(t, "--generators", "'5'"); err == nil {
		t.Error("a text in quotes is taken for a number")
	}
}
