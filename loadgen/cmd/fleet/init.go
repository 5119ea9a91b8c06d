package main

import (
	"context"
	"os"

	"lifeline/loadgen/cli"

	"lifeline/loadgen/scenario"
)

var initVerb = verb{
	name: "init", summary: "print a scenario file to begin with", run: initialise,
}

const initUsage = `Usage: fleet init [OPTION...] > my.yaml

Prints a scenario file with every key, its meaning and its default, or the value set by an option.

  fleet init > my.yaml
  fleet init --transport kafka --nodes 3 --generators 2000 > kafka.yaml
  fleet init --url nats://broker.example:4222 > own.yaml

`

func initialise(_ context.Context, arguments []string) error {
	set := cli.Options("fleet init", initUsage)
	var changes scenario.Flags
	changes.Register(set)
	rest, err := cli.Parse(set, arguments)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return cli.Misused(set, "the scenario goes to standard output: write `fleet init > "+rest[0]+"`")
	}
	template, err := scenario.Template(changes.Changes()...)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(template)
	return err
}
