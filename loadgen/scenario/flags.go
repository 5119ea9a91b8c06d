package scenario

import (
	"flag"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"lifeline/loadgen/transport/kind"
)

// shorthands are options equivalent to --set; a first run should need no file.
var shorthands = []struct {
	option, path, usage string
	number              bool
}{
	{"url", "broker.url", "`URL` of your own broker; comma-separated hosts", false},
	{"user", "broker.user", "`NAME` for the broker; needs --password-file", false},
	{"password-file", "broker.password_file", "`FILE` with the password, or without --user a NATS token", false},
	{"sasl", "broker.sasl", "Kafka: plain, scram-sha-256 or scram-sha-512 (`MECHANISM`)", false},
	{"credentials", "broker.credentials_file", "NATS .creds `FILE`, or an nkey's seed", false},
	{"ca", "broker.ca_file", "PEM `FILE` of the CA certificates", false},
	{"cert", "broker.certificate_file", "PEM `FILE` of the client certificate; needs --key", false},
	{"key", "broker.key_file", "PEM `FILE` of its private key", false},
	{"transport", "transport", "`NAME` of the protocol", false},
	{"nodes", "broker.nodes", "`N` nodes of an embedded broker", true},
	{"generators", "generators", "`N` generators, each with a connection", true},
	{"interval", "interval", "`TIME` between two messages of one generator", false},
	{"duration", "duration", "`TIME` of the measurement", false},
	{"client", "client", "library, or minimal for tens of thousands (`KIND`)", false},
}

// Flags collects what a command line changes in a scenario.
type Flags struct {
	changes []string
}

// Register declares the options on a flag set: --set KEY=VALUE, and shorthands for the commonest keys.
func (f *Flags) Register(set *flag.FlagSet) {
	more := map[string]string{"url": prefixes(kind.Schemes()), "transport": kind.Either(kind.Names(nil))}
	for _, short := range shorthands {
		usage := short.usage
		if words := more[short.option]; words != "" {
			usage += ": " + words
		}
		set.Func(short.option, usage, func(value string) error {
			change := Change(short.path, value)
			if short.number {
				change = short.path + "=" + value
			}
			f.changes = append(f.changes, change)
			return nil
		})
	}
	set.Func("set", "`KEY=VALUE`: any key of a scenario, such as message.events=10; repeatable", func(change string) error {
		if key, _, ok := strings.Cut(change, "="); !ok || key == "" {
			return fmt.Errorf("write KEY=VALUE, such as generators=500")
		}
		f.changes = append(f.changes, change)
		return nil
	})
}

// Changes are what to hand to Load, in the order of the command line.
func (f *Flags) Changes() []string { return f.changes }

// Change returns the argument of Load that sets a key to this text, whatever its characters.
func Change(path, text string) string { return path + "=" + quoted(text) }

// quoted is text as YAML, in quotes where YAML would read something else: a number, a date, null, a comment.
func quoted(text string) string {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err == nil && len(document.Content) == 1 {
		if node := document.Content[0]; node.Kind == yaml.ScalarNode && node.Tag == "!!str" && node.Value == text {
			return text
		}
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
