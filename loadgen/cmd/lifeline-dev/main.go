// Command lifeline-dev runs a broker for trying things, with the stream jobs and the page.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/cli"
)

const usage = `Usage: lifeline-dev [OPTION...]

Runs a NATS broker with JetStream on a loopback port, with Lifeline's streams and buckets, the stream jobs and the page, until
Ctrl-C or SIGTERM. Then everything ends, and the data is deleted unless --keep is given. Prints one line for each part when it
answers:

  export LIFELINE_URL=nats://127.0.0.1:41207
  jobs: http://127.0.0.1:39643/health
  page: http://127.0.0.1:36001/

Run the first line in another terminal, then start an instrumented program there: its events appear in the page. Errors and
warnings of the parts go to standard error, each line with the part's name.

`

type options struct {
	broker     string // URL of a running one; empty: the embedded one
	port       int
	keep       string
	listenPage string
	jobs, page bool
	json       bool
}

// init asks for SIGTERM when the parent process ends: without a terminal no SIGHUP comes. Under nohup the program outlives its
// parent. The setting is the calling thread's; init runs on the main thread, which lives as long as the process.
func init() {
	if !signal.Ignored(syscall.SIGHUP) {
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0)
	}
}

func main() {
	os.Exit(cli.Code("lifeline-dev", command(os.Args[1:])))
}

func command(arguments []string) error {
	given, err := parse(arguments)
	if err != nil {
		return err
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	// A second Ctrl-C changes nothing: what it would interrupt is the removal of the data, and the end takes bounded time.
	stopped, _ := signal.NotifyContext(context.Background(), signals...)
	return run(stopped, given)
}

func parse(arguments []string) (options, error) {
	var o options
	set := cli.Options("lifeline-dev", usage)
	set.StringVar(&o.broker, "broker", "", "use the running broker at this `URL` (nats:// or kafka://) and start none")
	set.IntVar(&o.port, "port", 0, "port `N` for the broker instead of a free one")
	set.StringVar(&o.keep, "keep", "", "keep the data in `DIR`, which is new, empty, or of an earlier run that goes on with it")
	set.StringVar(&o.listenPage, "listen-page", "127.0.0.1:0", "loopback address `HOST:PORT` for the page; port 0 is a free one")
	noPage := set.Bool("no-page", false, "do not start the page")
	noJobs := set.Bool("no-jobs", false, "do not start the jobs")
	set.BoolVar(&o.json, "json", false, "print addresses and process ids as one line of JSON, when all answer")
	rest, err := cli.Parse(set, arguments)
	if err != nil {
		return o, err
	}
	o.page, o.jobs = !*noPage, !*noJobs
	return o, check(set, o, rest)
}

func check(set *flag.FlagSet, o options, rest []string) error {
	switch _, _, err := net.SplitHostPort(o.listenPage); {
	case len(rest) > 0:
		return cli.Misused(set, fmt.Sprintf("unexpected argument %q", rest[0]))
	case o.port < 0 || o.port > 65535:
		return cli.Misused(set, fmt.Sprintf("--port %d: a port is a number from 1 to 65535", o.port))
	case o.broker != "" && o.port != 0:
		return cli.Misused(set, "--port is for the broker that is started, --broker starts none: give one of them")
	case err != nil:
		return cli.Misused(set, fmt.Sprintf("--listen-page %s: HOST:PORT is expected, like 127.0.0.1:8080", o.listenPage))
	case cli.Given(set, "keep") && o.keep == "":
		return cli.Misused(set, "--keep needs a directory")
	}
	return nil
}
