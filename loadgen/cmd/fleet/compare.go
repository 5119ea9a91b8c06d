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
       fleet compare --before RESULTS --after RESULTS

Compares the settings and results of runs. RESULT is the folder of a run's report or its result.json; the first is the
baseline.

With --before and --after, tells a change from noise: each side is several runs, as comma-separated RESULTs or folders of
'fleet run --runs'. Prints median and range of both sides, and what a Mann-Whitney U test says: a change where such a difference
comes by chance in less than 5 % of all cases. That takes four runs a side at least; with five, p can be as low as 0.008.

  fleet compare results/monday results/tuesday
  fleet compare --out compared nats.json kafka.json
  fleet compare --before old --after new

`

func compareRuns(_ context.Context, arguments []string) error {
	set := cli.Options("fleet compare", compareUsage)
	out := set.String("out", "", "write a page with pictures into this `folder`")
	asJSON := set.Bool("json", false, "print JSON")
	before := set.String("before", "", "several `RESULTS`, to be compared with those of --after")
	after := set.String("after", "", "several `RESULTS`, to be compared with those of --before")
	paths, err := cli.Parse(set, arguments)
	switch {
	case err != nil:
		return err
	case (*before == "") != (*after == ""):
		return cli.Misused(set, "--before and --after belong together")
	case *before != "" && (len(paths) > 0 || *out != ""):
		return cli.Misused(set, "--before and --after take neither --out nor further results")
	case *before != "":
		return compareSeries(*before, *after, *asJSON)
	case len(paths) < 2:
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
	if err := printComparison(comparison, *asJSON); err != nil {
		return err
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

func printComparison(comparison interface{ Text() string }, asJSON bool) error {
	if !asJSON {
		fmt.Print(comparison.Text())
		return nil
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(comparison); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

func compareSeries(before, after string, asJSON bool) error {
	was, err := readSeries(before)
	if err != nil {
		return err
	}
	is, err := readSeries(after)
	if err != nil {
		return err
	}
	series, err := report.CompareSeries(was, is)
	if err != nil {
		return err
	}
	return printComparison(series, asJSON)
}

// readSeries reads runs by their files or folders; a folder without a result has those of its subfolders.
func readSeries(list string) ([]result.Result, error) {
	var runs []result.Result
	for _, path := range strings.Split(list, ",") {
		files := []string{path}
		if inside, _ := filepath.Glob(filepath.Join(path, "*", report.JSONName)); len(inside) > 0 {
			files = inside
		}
		for _, file := range files {
			r, err := report.Read(file)
			if err != nil {
				return nil, err
			}
			runs = append(runs, r)
		}
	}
	return runs, nil
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
