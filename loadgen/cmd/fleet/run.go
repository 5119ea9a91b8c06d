package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lifeline/loadgen/certificates"
	"lifeline/loadgen/cli"

	"lifeline/loadgen/live"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
	"lifeline/loadgen/run"
	"lifeline/loadgen/scenario"
)

var runVerb = verb{name: "run", summary: "run a fleet and report round-trip times and loss", run: runFleet}

const runUsage = `Usage: fleet run [SCENARIO] [OPTION...]

Runs the generators of a scenario (a file, - for standard input, or the name of a built-in one) against its broker, or against
a temporary one on this machine. Shows progress on standard error, writes a report, and ends with the line

  fleet: connections=N sent=N unsent=N refused=N received=N lost=N away=N duplicated=N p50_ms=X p998_ms=X
    service_p998_ms=X broker=agree valid=true

(in one line). p50_ms and p998_ms begin when a message was due, service_p998_ms when it was sent. away: of the lost ones, those
published while the fleet's own subscriber was disconnected. broker: whether its counters agree with the fleet's, differ, or are
unknown. valid=false: the reasons are printed above the line.

Exit codes: 0; 1 if the fleet failed, missed an objective or was interrupted; 2 for a usage error; 3 if, without a planned fault,
more than 0.1 % of the messages that were due could not be published (unsent, refused), or if the broker's counters differ.
A run that is invalid only because the machine was loaded exits with 0: its counts are correct. Ctrl-C ends a run early, with a
partial report.

  fleet run demo
  fleet run demo --runs 5 --out new                               median and range of five; then fleet compare --before old --after new
  fleet run --url nats://broker.example:4222 --generators 500     against your own NATS
  fleet run --url kafka://broker.example:9092 --generators 500    against your own Kafka
  fleet run my.yaml --set message.kind=batch --set message.events=10
  fleet run my.yaml --url nats://broker.example --agents host1:7070,host2:7070 --certificates certificates/coordinator

With --agents the generators run on other machines, in equal parts; each must run fleet agent.

`

func runFleet(ctx context.Context, arguments []string) error {
	set := cli.Options("fleet run", runUsage)
	out := set.String("out", "", "`FOLDER` for the report (default fleet-reports/NAME-TIME)")
	asJSON := set.Bool("json", false, "print the whole result as JSON; page and line go to standard error")
	repeat := set.Int("repeat", 1, "`TIMES` to repeat a run that other load on the machine made invalid")
	agents := set.String("agents", "", "`HOST:PORT,...` of the machines that run the generators (see fleet agent)")
	credentials := set.String("certificates", "", "`FOLDER` with ca.crt, tls.crt and tls.key, for the agents")
	first := set.Int("first", 0, "`NUMBER` of the first generator, of runs for fleet merge")
	var startAt time.Time
	set.Func("start-at", "`TIME` when the measured span begins, 18:30:00 or 2026-11-21T18:30:00Z", func(text string) (err error) {
		startAt, err = timeOf(text, time.Now())
		return err
	})
	runs := set.Int("runs", 1, "`NUMBER` of runs, each with a report in a folder of its own in the report's folder")
	var changes scenario.Flags
	changes.Register(set)
	files, err := cli.Parse(set, arguments)
	switch {
	case err != nil:
		return err
	case *runs < 1 || *runs > 1 && *asJSON:
		return cli.Misused(set, "--runs takes a number from 1 on, and excludes --json: each run leaves its result.json")
	case *runs > 1 && !startAt.IsZero():
		return cli.Misused(set, "--start-at is of one run, and excludes --runs")
	case len(files) > 1:
		return cli.Misused(set, "one scenario at a time")
	case *first < 0:
		return cli.Misused(set, "--first counts from 0")
	case len(files) == 0 && len(changes.Changes()) == 0:
		return cli.Misused(set, "which scenario, or which --url?")
	}
	options := run.Options{Agents: list(*agents), First: *first, StartAt: startAt}
	if len(options.Agents) > 0 {
		if *credentials == "" {
			return cli.Misused(set, "--agents needs --certificates")
		}
		if options.TLS, err = certificates.Mutual(*credentials); err != nil {
			return err
		}
	}
	s, err := scenario.Load(strings.Join(files, ""), changes.Changes()...)
	if err != nil {
		return err
	}
	warnIf(s.Broker.ExposesPassword(), s.Broker.URL)
	folder := *out
	if folder == "" {
		folder = filepath.Join("fleet-reports", s.Name+time.Now().Format("-20060102-150405"))
	}
	if err := report.Prepare(folder); err != nil {
		return err
	}
	if !startAt.IsZero() {
		*repeat = 0 // that time is over then
	}
	if *runs > 1 {
		return runSeries(ctx, s, options, *runs, *repeat, folder)
	}
	found, err := runUntilValid(ctx, s, options, *repeat)
	if err != nil {
		_ = os.Remove(folder) // fails if not empty
		return err
	}
	return conclude(found, folder, *asJSON)
}

// timeOf reads a time of today, or any by RFC 3339.
func timeOf(text string, now time.Time) (time.Time, error) {
	if at, err := time.ParseInLocation(time.TimeOnly, text, now.Location()); err == nil {
		return time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location()), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("write 18:30:00 or 2026-11-21T18:30:00Z")
	}
	return at, nil
}

// warnIf warns of a password sent in clear text.
func warnIf(exposed bool, url string) {
	if exposed {
		fmt.Fprintf(os.Stderr, "fleet: the password may go to %s in clear text: write a URL with TLS\n", url)
	}
}

// runUntilValid repeats a run that noise made invalid, and returns the last one, whose remarks name those before it.
func runUntilValid(ctx context.Context, s scenario.Scenario, options run.Options, repeats int) (result.Result, error) {
	var discarded []string
	for attempt := 0; ; attempt++ {
		view := live.New(os.Stderr)
		options.View = view
		found, err := run.Run(ctx, s, options)
		view.End()
		if err != nil || found.Valid || found.Times.RTT.Count == 0 || found.Failure != nil || found.Partial || len(found.Disputed) > 0 || attempt >= repeats {
			found.Remarks = append(discarded, found.Remarks...)
			return found, err
		}
		why := strings.Join(found.Invalid, "; ")
		fmt.Fprintf(os.Stderr, "fleet: the run is not valid (%s); repeating it\n", why)
		discarded = append(discarded, fmt.Sprintf("an earlier attempt was discarded, which lost %d and could not publish %d of %d messages: %s",
			found.Counts.Lost, found.Counts.Unsent(), found.Counts.Sent+found.Counts.Unsent(), why))
	}
}

// runSeries makes several runs, and prints median and range of those that are valid. It returns the first error of a run, behind the
// last run; after Ctrl-C, no further run begins.
func runSeries(ctx context.Context, s scenario.Scenario, options run.Options, runs, repeats int, folder string) error {
	var all []result.Result
	var first error
	for number := 1; number <= runs && ctx.Err() == nil; number++ {
		found, err := runUntilValid(ctx, s, options, repeats)
		if err != nil {
			return err
		}
		all = append(all, found)
		if err := conclude(found, filepath.Join(folder, fmt.Sprintf("%03d", number)), false); err != nil && first == nil {
			first = err
		}
	}
	fmt.Printf("\n%s", report.Spreads(all))
	return first
}

func conclude(found result.Result, folder string, asJSON bool) error {
	page, err := report.Write(folder, found)
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(found); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
		fmt.Fprintf(os.Stderr, "Page: %s\n%s\n", page, report.Line(found))
	} else {
		fmt.Print(report.Text(found))
		fmt.Printf("\nPage: %s\n%s\n", page, report.Line(found))
	}
	switch {
	case found.Failure != nil || found.Partial:
		return cli.ErrReported
	case len(found.Disputed) > 0:
		return cli.ErrDisputed
	}
	return nil
}
