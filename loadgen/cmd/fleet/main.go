// Command fleet runs a fleet of generators against a NATS or Kafka broker and reports round-trip times and loss.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"lifeline/loadgen/broker/natsnode"
	"lifeline/loadgen/study/pingpong"
	"lifeline/loadgen/worker"
)

// verb is one subcommand. A hidden one is a child process; its parent stops it, so it ignores terminal signals.
type verb struct {
	name, summary string
	hidden        bool
	run           func(ctx context.Context, arguments []string) error
}

var verbs = []verb{
	runVerb,
	validateVerb,
	initVerb,
	studyVerb,
	compareVerb,
	reportVerb,
	{name: worker.Verb, hidden: true, run: func(ctx context.Context, _ []string) error {
		return worker.Serve(ctx, os.Stdin, os.Stdout)
	}},
	{name: pingpong.Verb, hidden: true, run: func(ctx context.Context, _ []string) error {
		return pingpong.Main(ctx, os.Stdin, os.Stdout)
	}},
	{name: natsnode.Verb, hidden: true, run: func(ctx context.Context, arguments []string) error {
		return natsnode.Main(ctx, arguments, os.Stdin)
	}},
}

// errUsage ends the program with exit code 2; the error has been printed.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(execute(ctx, os.Args[1:]))
}

// endings are the signals that end a run early, with its report.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it, for runs that outlive their terminal
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// execute returns the exit code: 0 success, 1 failure, 2 usage error.
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
		if v.hidden {
			signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		}
		switch err := v.run(ctx, arguments[1:]); {
		case err == nil || errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			return 2
		case errors.Is(err, errReported):
			return 1
		default:
			fmt.Fprintf(os.Stderr, "fleet %s: %v\n", v.name, err)
			return 1
		}
	}
	fmt.Fprintf(os.Stderr, "fleet: unknown command %q; `fleet --help` lists them\n", arguments[0])
	return 2
}

func usage(to *os.File) {
	fmt.Fprint(to, "Usage: fleet COMMAND [OPTION...]\n\nRuns fleets of generators against a NATS or Kafka broker to measure round-trip times, loss and limits.\n\n")
	for _, v := range verbs {
		if !v.hidden {
			fmt.Fprintf(to, "  %-10s %s\n", v.name, v.summary)
		}
	}
	fmt.Fprint(to, `
Runs against your own broker, and against a temporary one on this machine:

  fleet run --url nats://broker.example:4222 --generators 500
  fleet run --url kafka://broker.example:9092 --generators 500
  fleet run demo

fleet COMMAND --help describes a command and its options.
`)
}
