package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"lifeline/loadgen/cli"

	"lifeline/loadgen/report"
)

var reportVerb = verb{name: "report", summary: "write a run's report again, from its JSON", run: reportAgain}

const reportUsage = `Usage: fleet report [OPTION...] RESULT

Regenerates page, Markdown and charts from a run's result.json (or its folder), and prints the verdict. For a file of another
name, such as a study's point, the report goes into a folder beside it, or into --out.

  fleet report results/monday
  fleet report --out /tmp/look result.json

`

func reportAgain(_ context.Context, arguments []string) error {
	set := cli.Options("fleet report", reportUsage)
	out := set.String("out", "", "write into this `folder` instead of the result's own")
	paths, err := cli.Parse(set, arguments)
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return cli.Misused(set, "it takes one result")
	}
	r, err := report.Read(paths[0])
	if err != nil {
		return err
	}
	folder := *out
	if folder == "" {
		folder = ownFolder(paths[0])
	}
	page, err := report.Write(folder, r)
	if err != nil {
		return err
	}
	fmt.Print(report.Text(r))
	fmt.Printf("\nPage: %s\n%s\n", page, report.Line(r))
	return nil
}

// ownFolder is where a result's report belongs: its folder; a file of another name is one of several, as a study's points are,
// and gets a folder of that name.
func ownFolder(path string) string {
	switch {
	case filepath.Base(path) == report.JSONName:
		return filepath.Dir(path)
	case filepath.Ext(path) == ".json":
		return strings.TrimSuffix(path, ".json")
	}
	return path
}
