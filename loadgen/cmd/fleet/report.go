package main

import (
	"context"
	"fmt"
	"path/filepath"

	"lifeline/loadgen/report"
)

var reportVerb = verb{name: "report", summary: "write a run's report again, from its JSON", run: reportAgain}

const reportUsage = `Usage: fleet report [OPTION...] RESULT

Writes page, Markdown and pictures again from a run's result.json (or the folder that holds it), and prints the verdict.

  fleet report results/monday
  fleet report --out /tmp/look result.json

`

func reportAgain(_ context.Context, arguments []string) error {
	set := newFlagSet("report", reportUsage)
	out := set.String("out", "", "write into this `folder` instead of the result's own")
	paths, err := parse(set, arguments)
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return misused(set, "it takes one result")
	}
	r, err := report.Read(paths[0])
	if err != nil {
		return err
	}
	folder := *out
	if folder == "" {
		folder = paths[0]
		if filepath.Ext(folder) == ".json" {
			folder = filepath.Dir(folder)
		}
	}
	page, err := report.Write(folder, r)
	if err != nil {
		return err
	}
	fmt.Print(report.Text(r))
	fmt.Printf("\nPage: %s\n%s\n", page, report.Line(r))
	return nil
}
