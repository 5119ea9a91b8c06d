// Command fleet runs a fleet of generators against a broker and reports round-trip times and loss.
package main

import (
	"context"
	"fmt"
	"os"

	"lifeline/loadgen/child"
	"lifeline/loadgen/cli"
)

// verb is one subcommand.
type verb struct {
	name, summary string
	run           func(ctx context.Context, arguments []string) error
}

var verbs = []verb{
	runVerb,
	validateVerb,
	initVerb,
	compareVerb,
	reportVerb,
	mergeVerb,
	agentVerb,
	certificatesVerb,
}

func main() {
	child.Play()
	os.Exit(execute(cli.UntilStopped(), os.Args[1:]))
}

// execute returns the exit code: 0 success, 1 failure, 2 usage error, 3 a disputed result.
func execute(ctx context.Context, arguments []string) int {
	if len(arguments) == 0 {
		usage(os.Stderr)
		return 2
	}
	if name := arguments[0]; name == "-h" || name == "--help" || name == "help" {
		usage(os.Stdout)
		return 0
	}
	for _, v := range verbs {
		if v.name != arguments[0] {
			continue
		}
		return cli.Code("fleet "+v.name, v.run(ctx, arguments[1:]))
	}
	fmt.Fprintf(os.Stderr, "fleet: unknown command %q; `fleet --help` lists them\n", arguments[0])
	return 2
}

func usage(to *os.File) {
	fmt.Fprint(to, "Usage: fleet COMMAND [OPTION...]\n\nRuns fleets of generators against a broker (NATS, Kafka or PostgreSQL) to measure round-trip times, loss and limits.\n\n")
	for _, v := range verbs {
		fmt.Fprintf(to, "  %-12s %s\n", v.name, v.summary)
	}
	fmt.Fprint(to, `
Runs against your own broker, and against a temporary one on this machine:

  fleet run --url nats://broker.example:4222 --generators 500
  fleet run --url kafka://broker.example:9092 --generators 500
  fleet run demo

fleet COMMAND --help describes a command and its options.
`)
}
