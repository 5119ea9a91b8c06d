package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lifeline/loadgen/cli"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
	"lifeline/loadgen/run"
)

var mergeVerb = verb{name: "merge", summary: "make one result of runs that were made apart", run: mergeRuns}

const mergeUsage = `Usage: fleet merge --out FOLDER RESULT RESULT...

Merges runs of one scenario that were made apart, on machines that no coordinator reaches: counts are added, and times are exact, as
if one run had recorded them. RESULT is the folder of a run's report or its result.json. Give the runs generators of their own, and
the same begin of the measurement:

  fleet run my.yaml --generators 5000              --start-at 18:30:00   on one machine
  fleet run my.yaml --generators 5000 --first 5000 --start-at 18:30:00   on another one
  fleet merge --out both one/result.json other/result.json

`

func mergeRuns(_ context.Context, arguments []string) error {
	set := cli.Options("fleet merge", mergeUsage)
	out := set.String("out", "", "`FOLDER` for the report of all")
	asJSON := set.Bool("json", false, "print the whole result as JSON; page and line go to standard error")
	paths, err := cli.Parse(set, arguments)
	switch {
	case err != nil:
		return err
	case len(paths) < 2:
		return cli.Misused(set, "it takes two results or more")
	case *out == "":
		return cli.Misused(set, "which --out?")
	}
	var runs []result.Result
	for _, path := range paths {
		r, err := report.Read(path)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	names := pathNames(paths)
	if differ := differences(names, runs); len(differ) > 0 {
		return fmt.Errorf("the runs are not of one scenario: %s", strings.Join(differ, "; "))
	}
	merged, err := run.Merge(names, runs)
	if err != nil {
		return err
	}
	return conclude(merged, *out, *asJSON)
}

// differences are settings that runs to be merged must share.
func differences(names []string, runs []result.Result) (found []string) {
	each := []string{"generators", "connections", "workers", "source_addresses", "machine"} // may be of a run alone
	for _, setting := range report.Compare(names, runs).Settings {
		if !slices.Contains(each, setting.Key) {
			found = append(found, fmt.Sprintf("%s is %s", setting.Key, strings.Join(setting.Values, ", ")))
		}
	}
	return found
}
