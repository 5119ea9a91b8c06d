// Command fleet-study repeats a study of publish/subscribe systems with the generator fleet, and writes its pages.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"lifeline/loadgen/plot"

	"lifeline/loadgen/child"
	"lifeline/loadgen/cli"

	fleet "lifeline/loadgen/run"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/study"
	"lifeline/loadgen/study/derived"
	"lifeline/loadgen/study/pingpong"
	"lifeline/loadgen/study/stored"
)

func main() {
	child.Play()
	if len(os.Args) == 2 && os.Args[1] == "chart" {
		os.Exit(cli.Code("fleet-study chart", chart(os.Stdin, os.Stdout)))
	}
	os.Exit(cli.Code("fleet-study", run(cli.UntilStopped(), os.Args[1:])))
}

// chart draws charts, a plot.Bars or a plot.Figure with panels as JSON on each line of in, as one SVG after the other, for the pages
// of results/ that other programs write.
func chart(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	for {
		var text json.RawMessage
		switch err := decoder.Decode(&text); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading a chart: %w", err)
		}
		drawn, err := draw(text)
		if err != nil {
			return fmt.Errorf("reading a chart: %w", err)
		}
		if _, err := out.Write(drawn); err != nil {
			return fmt.Errorf("writing a chart: %w", err)
		}
	}
}

func draw(text json.RawMessage) ([]byte, error) {
	var kind struct{ Panels json.RawMessage }
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if kind.Panels != nil {
		var figure plot.Figure
		err := decoder.Decode(&figure)
		return figure.SVG(), err
	}
	var bars plot.Bars
	err := decoder.Decode(&bars)
	return bars.SVG(), err
}

const usage = `Usage: fleet-study --out FOLDER [OPTION...]

Measures the points of a study, in short runs into FOLDER/data/POINT.json, and writes pages and charts in FOLDER from all
measurements. Each point is measured five times, round by round in random order; the time that remains goes to the points with
the largest spread. A study that was stopped goes on: runs of the same scenario on this machine count for seven days, and --hours
is the time of all of them. A failed run is recorded with its cause, and the next one begins. Brokers are started on this
machine; Kafka's points need scripts/broker install kafka.

  fleet-study --out results                      two hours
  fleet-study --out results --hours 4            two more
  fleet-study --out results --quick              fewer points, 15 minutes
  fleet-study --out results --only 'table2-*'    five runs of some points
  fleet-study --out results --paper-timing       one point in the paper's own timing, three quarters of an hour
  fleet-study --out results --before older       which points changed since another study
  fleet-study --out results --pages              only write the pages, from the files
  fleet-study chart                              draw charts: a JSON object on standard input, an SVG on standard output

`

func run(ctx context.Context, arguments []string) error {
	set := cli.Options("fleet-study", usage)
	out := set.String("out", "", "`FOLDER` of pages and data")
	hours := set.Float64("hours", 2, "time of all runs, in `HOURS`; with --only: as long as five runs of each point take, unless given")
	quick := set.Bool("quick", false, "fewer points, 15 minutes")
	paper := set.Bool("paper-timing", false, "a generator every 0.5 s, half an hour of messages")
	var only []string
	set.Func("only", "comma-separated `POINTS`, * for any characters; repeatable", func(points string) error {
		only = append(only, strings.Split(points, ",")...)
		return nil
	})
	again := set.Bool("again", false, "begin anew, without the runs made so far")
	seed := set.Uint64("seed", uint64(time.Now().UnixNano()), "`NUMBER` that the order within rounds follows from (default: a new one)")
	list := set.Bool("list", false, "print the points, how long a run takes, and its command")
	pages := set.Bool("pages", false, "only write the pages, from the files")
	before := set.String("before", "", "compare with the study in another `FOLDER`, point by point")
	rest, err := cli.Parse(set, arguments)
	if err != nil {
		return err
	}
	options := study.Options{Out: *out, Only: only, Again: *again, Seed: *seed, Runners: runners, Log: os.Stdout}
	switch {
	case len(rest) > 0:
		return cli.Misused(set, "it takes options only; points go behind --only")
	case *quick && *paper:
		return cli.Misused(set, "--quick and --paper-timing exclude each other")
	case (*quick || *paper) && cli.Given(set, "hours"):
		return cli.Misused(set, "--hours is for the whole study; the other forms have times of their own")
	case !(*hours > 0 && *hours <= 1000):
		return cli.Misused(set, "--hours takes a number above 0")
	case *quick:
		options.Form = study.Quick()
	case *paper:
		options.Form = study.PaperTiming()
	case len(only) > 0 && !cli.Given(set, "hours"):
		options.Form = study.Within(0)
	default:
		options.Form = study.Within(time.Duration(*hours * float64(time.Hour)))
	}
	switch {
	case *list:
		return study.List(options)
	case *out == "":
		return cli.Misused(set, "where to? --out FOLDER is missing")
	case *pages:
		return study.WritePages(*out)
	case *before != "":
		return study.WriteChanges(os.Stdout, *before, *out)
	}
	err = study.Measure(ctx, options)
	if err != nil && !errors.Is(err, study.ErrInterrupted) {
		return err
	}
	return errors.Join(err, study.WritePages(*out))
}

// runners measure each kind of point, without a live view.
var runners = map[study.Kind]study.Runner{
	study.Fleet: func(ctx context.Context, s scenario.Scenario) (study.Measured, error) {
		found, err := fleet.Run(ctx, s, fleet.Options{})
		return study.Measured{Result: found}, err
	},
	study.PingPong: func(ctx context.Context, s scenario.Scenario) (study.Measured, error) {
		found, err := pingpong.Run(ctx, s)
		return study.Measured{Result: found}, err
	},
	study.Stored: func(ctx context.Context, s scenario.Scenario) (study.Measured, error) {
		found, beside, err := stored.Run(ctx, s)
		return study.Measured{Result: found, Beside: beside}, err
	},
	study.Derived: func(ctx context.Context, s scenario.Scenario) (study.Measured, error) {
		found, beside, err := derived.Run(ctx, s)
		return study.Measured{Result: found, Beside: beside}, err
	},
}
