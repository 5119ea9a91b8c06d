package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"lifeline/loadgen/cli"

	"lifeline/loadgen/scenario"
)

var validateVerb = verb{
	name: "validate", summary: "check scenario files, or print their JSON schema", run: validate,
}

const validateUsage = `Usage: fleet validate FILE... [--json] [--set KEY=VALUE]...
       fleet validate --schema

Validates scenario files: reports every error with its line and the remedy. FILE may be - for standard input, or the name of a
built-in scenario. Starts nothing.

  fleet validate my.yaml
  fleet validate --json demo           print a scenario with all its defaults
  fleet validate --schema > fleet.json write the schema for an editor

`

func validate(_ context.Context, arguments []string) error {
	set := cli.Options("fleet validate", validateUsage)
	schema := set.Bool("schema", false, "print the JSON schema of scenario files")
	asJSON := set.Bool("json", false, "print the scenarios with all defaults, as a JSON list")
	var changes scenario.Flags
	changes.Register(set)
	files, err := cli.Parse(set, arguments)
	switch {
	case err != nil:
		return err
	case *schema:
		_, err := os.Stdout.Write(scenario.Schema())
		return err
	case len(files) == 0:
		return cli.Misused(set, "which file?")
	}
	all := make([]scenario.Scenario, 0, len(files))
	failed := 0
	for _, file := range files {
		s, err := scenario.Load(file, changes.Changes()...)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed++
			continue
		}
		all = append(all, s)
		if !*asJSON {
			fmt.Printf("%s: valid: %s\n", file, s.Summary())
		}
	}
	if *asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(all); err != nil {
			return err
		}
	}
	if failed > 0 {
		return errors.New(plural(failed, "scenario is", "scenarios are") + " not valid")
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
