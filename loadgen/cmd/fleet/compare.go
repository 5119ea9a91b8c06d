package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lifeline/loadgen/cli"

	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
)

var compareVerb = verb{name: "compare", summary: "put runs side by side", run: compareRuns}

const compareUsage = `Usage: fleet compare [OPTION...] RESULT RESULT...

Compares the settings and results of runs. RESULT is the folder of a run's report or its result.json; the first is the
baseline.

  fleet compare results/monday results/tuesday
  fleet compare --out compared nats.json kafka.json

`

func compareRuns(_ context.Context, arguments []string) error {
	set := cli.Options("fleet compare", compareUsage)
	out := set.String("out", "", "write a page with pictures into this `folder`")
	asJSON := set.Bool("json", false, "print JSON")
	paths, err := cli.Parse(set, arguments)
	if err != nil {
		return err
	}
	if len(paths) < 2 {
		return cli.Misused(set, "it takes two results or more")
	}
	var runs []result.Result
	for _, path := range paths {
		r, err := report.Read(path)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	comparison := report.Compare(runNames(paths, runs), runs)
	if *asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", " ")
		if err := encoder.Encode(comparison); err != nil {
			return fmt.Errorf("writing the comparison: %w", err)
		}
	} else {
		fmt.Print(comparison.Text())
	}
	if *out == "" {
		return nil
	}
	page, err := comparison.Write(*out)
	if err != nil {
		return err
	}
	if !*asJSON {
		fmt.Printf("\nPage: %s\n", page)
	}
	return nil
}

// runNames are the scenarios' names, or the paths' where two runs are of one scenario.
func runNames(paths []string, runs []result.Result) []string {
	seen := map[string]bool{}
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = report.Name(r)
		seen[names[i]] = true
	}
	if len(seen) == len(runs) {
		return names
	}
	return pathNames(paths)
}

// pathNames are those of the results' files, or of their folders.
func pathNames(paths []string) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		path = strings.TrimSuffix(filepath.Clean(path), string(filepath.Separator)+report.JSONName)
		names[i] = strings.TrimSuffix(filepath.Base(path), ".json")
	}
	return names
}
