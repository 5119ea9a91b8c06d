package scenario

import (
	"flag"
	"fmt"
	"strings"
)

// shorthands are options that say the same as --set; the first broker somebody tries should need no file.
var shorthands = []struct{ option, path, usage string }{
	{"url", "broker.url", "your own `URL`: nats://HOST:PORT, tls://, ws://, mqtt://, kafka://; several hosts by comma"},
	{"user", "broker.user", "`NAME` for the broker; needs --password-file"},
	{"password-file", "broker.password_file", "`FILE` that holds the password"},
	{"credentials", "broker.credentials_file", "NATS .creds `FILE`"},
	{"ca", "broker.ca_file", "PEM `FILE` of whom to trust"},
	{"transport", "transport", "nats, nats-tls, nats-websocket, jetstream, mqtt or kafka (`NAME`)"},
	{"nodes", "broker.nodes", "`N` nodes of an embedded broker"},
	{"generators", "generators", "`N` of them, each with a connection"},
	{"interval", "interval", "`TIME` between two messages of one generator"},
	{"duration", "duration", "`TIME` of the measurement"},
	{"client", "client", "library, or minimal for tens of thousands (`KIND`)"},
}

// Flags collects what a command line changes in a scenario.
type Flags struct {
	changes []string
}

// Register declares the options on a flag set: --set KEY=VALUE, and shorthands for the commonest keys.
func (f *Flags) Register(set *flag.FlagSet) {
	for _, short := range shorthands {
		set.Func(short.option, short.usage, func(value string) error {
			f.changes = append(f.changes, Change(short.path, value))
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

// Change is what to hand to Load for a key whose value is this text, whatever stands in it.
func Change(path, value string) string { return path + "=" + quoted(value) }

// quoted protects a value from YAML's grammar where it is no plain scalar.
func quoted(value string) string {
	if strings.ContainsAny(value, "#'\"{}[],&*!|>%@`") || strings.Contains(value, ": ") {
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return value
}
