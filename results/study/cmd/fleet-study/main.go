// Command fleet-study repeats a study of publish/subscribe systems with the generator fleet, and writes its pages.
package main

import (
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
	"lifeline/results/study"
	"lifeline/results/study/derived"
	"lifeline/results/study/pingpong"
	"lifeline/results/study/stored"
)

func main() {
	child.Play()
	if len(os.Args) == 2 && os.Args[1] == "chart" {
		os.Exit(cli.Code("fleet-study chart", chart(os.Stdin, os.Stdout)))
	}
	os.Exit(cli.Code("fleet-study", run(cli.UntilStopped(), os.Args[1:])))
}

// chart draws the bar charts, a plot.Bars as JSON on each line of in, as one SVG after the other, for the pages of results/ that
// other programs write.
func chart(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	for {
		var bars plot.Bars
		switch err := decoder.Decode(&bars); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading a bar chart: %w", err)
		}
		if _, err := out.Write(bars.SVG()); err != nil {
			return fmt.Errorf("writing a bar chart: %w", err)
		}
	}
}

const usage = `Usage: fleet-study --out FOLDER [OPTION...]

Measures the points of a study in turn, each into FOLDER/data/POINT.json, and writes pages and charts in FOLDER from all
measurements. A failed point is recorded with its cause, and the next one begins. --resume continues after Ctrl-C. Points that
were measured on this machine for longer are kept and listed; --again replaces them. Brokers are started on this machine;
Kafka's points need scripts/broker install kafka.

  fleet-study --out results --quick              the short form, at most 15 minutes
  fleet-study --out results --resume             5 minutes a point, hours in all; go on after an interruption
  fleet-study --out results --each 1m --only 'table2-*'
  fleet-study --out results --paper-timing       one point in the study's own timing, three quarters of an hour
  fleet-study --out results --pages              only write the pages, from the files
  fleet-study chart                              draw bar charts: a JSON object on standard input, an SVG on standard output

`

func run(ctx context.Context, arguments []string) error {
	set := cli.Options("fleet-study", usage)
	out := set.String("out", "", "`FOLDER` of pages and data")
	quick := set.Bool("quick", false, "the short form: fewer points, of seconds each")
	paper := set.Bool("paper-timing", false, "a generator every 0.5 s, half an hour of messages")
	each := set.Duration("each", 5*time.Minute, "`TIME` to measure each point in the full form")
	var only []string
	set.Func("only", "comma-separated `POINTS`, * for any characters; repeatable", func(points string) error {
		only = append(only, strings.Split(points, ",")...)
		return nil
	})
	resume := set.Bool("resume", false, "keep points that were measured in the same form within the last seven days")
	again := set.Bool("again", false, "repeat every point, even if it was measured for longer")
	repeats := set.Int("repeat", 1, "`TIMES` to repeat a point that other load made invalid")
	list := set.Bool("list", false, "print the points, how long each takes, and its command")
	pages := set.Bool("pages", false, "only write the pages, from the files")
	rest, err := cli.Parse(set, arguments)
	if err != nil {
		return err
	}
	options := study.Options{Out: *out, Only: only, Resume: *resume, Again: *again, Repeats: *repeats, Runners: runners, Log: os.Stdout}
	switch {
	case len(rest) > 0:
		return cli.Misused(set, "it takes options only; points go behind --only")
	case *quick && *paper:
		return cli.Misused(set, "--quick and --paper-timing exclude each other")
	case (*quick || *paper) && cli.Given(set, "each"):
		return cli.Misused(set, "--each is for the full form; the others have times of their own")
	case *resume && *again:
		return cli.Misused(set, "--resume and --again exclude each other")
	case *each < time.Second:
		return cli.Misused(set, "--each takes at least 1s")
	case *quick:
		options.Form = study.Quick()
	case *paper:
		options.Form = study.PaperTiming()
	default:
		options.Form = study.Full(*each)
	}
	switch {
	case *list:
		return study.List(options)
	case *out == "":
		return cli.Misused(set, "where to? --out FOLDER is missing")
	case *pages:
		return study.WritePages(*out)
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
