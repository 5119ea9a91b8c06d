package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Streams that may take less than lifeline-setup gives them by itself: the folder may be on a small disk, or in memory.
const mostBytesOfStreams = "1G"

// dev is what runs.
type dev struct {
	options
	folder *folder
	broker *broker // nil if --broker gives another one
	url    string
	parts  []*part
	jobs   *part
	page   *part
	fail   context.CancelCauseFunc
}

// run returns when it is stopped, or when a part has ended by itself, and nothing runs any more.
func run(stopped context.Context, o options) (err error) {
	d := &dev{options: o}
	ctx, fail := context.WithCancelCause(stopped)
	defer fail(nil)
	d.fail = fail
	if o.page {
		if err := isFree(o.listenPage, "--listen-page"); err != nil {
			return err
		}
	}
	if d.folder, err = open(o.keep); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.folder.close()) }()
	defer d.end()
	err = d.start(ctx)
	if err == nil {
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	if stopped.Err() != nil {
		return nil // as wanted; what failed meanwhile failed since it was to end
	}
	return err
}

func (d *dev) start(ctx context.Context) error {
	if err := d.startBroker(ctx); err != nil {
		return err
	}
	if err := d.startParts(); err != nil {
		return err
	}
	return d.announce(ctx)
}

func (d *dev) startBroker(ctx context.Context) (err error) {
	d.url = d.options.broker
	limits := []string{}
	if d.url == "" {
		if d.broker, err = startBroker(filepath.Join(d.folder.path, "nats"), d.port); err != nil {
			return err
		}
		d.url = d.broker.url()
		limits = []string{"--max-bytes", mostBytesOfStreams}
	}
	program, err := beside("lifeline-setup")
	if err != nil {
		return err
	}
	setup := exec.CommandContext(ctx, program, append(limits, "--url", d.url)...)
	setup.Env = d.environment()
	if said, err := setup.CombinedOutput(); err != nil {
		return fmt.Errorf("lifeline-setup failed (%w):\n%s", err, strings.TrimSpace(string(said)))
	}
	return nil
}

// startParts starts jobs and page at the same time. They need longer than all the rest.
func (d *dev) startParts() (err error) {
	archive := filepath.Join(d.folder.path, "archive")
	if d.options.jobs {
		// The page takes an empty archive for one of jobs that have just started, and reports one that is not there.
		if err := os.MkdirAll(archive, 0o700); err != nil {
			return fmt.Errorf("making the archive: %w", err)
		}
		d.jobs, err = d.startPart("lifeline-jobs", "ready: health=", "run", "--set", "broker.url="+d.url,
			"--set", "jobs=summarise,bottleneck,archive,ledger", "--set", "bottleneck.interval=200ms", "--set", "bottleneck.hold=1s",
			"--set", "archive.dir="+archive, "--set", "archive.roll.interval=2s", "--set", "state.dir="+filepath.Join(d.folder.path, "state"))
		if err != nil {
			return err
		}
	}
	if d.options.page {
		arguments := []string{"--broker", d.url, "--listen", d.listenPage}
		if _, err := os.Stat(archive); err == nil {
			arguments = append(arguments, archive)
		}
		d.page, err = d.startPart("lifeline-console", "console: ", arguments...)
	}
	return err
}

func (d *dev) startPart(name, mark string, arguments ...string) (*part, error) {
	program, err := beside(name)
	if err != nil {
		return nil, err
	}
	p, err := start(name, mark, d.environment(), program, arguments...)
	if err != nil {
		return nil, err
	}
	d.parts = append(d.parts, p)
	go func() {
		<-p.process.Done()
		// Ctrl-C at a terminal reaches all at once: the part may be faster than this process.
		time.Sleep(time.Second)
		d.fail(p.ended())
	}()
	return p, nil
}

// environment is that of the parts. Nothing of what is set for another broker fits the embedded one.
func (d *dev) environment() []string {
	if d.broker == nil {
		return os.Environ()
	}
	var kept []string
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(setting, "=")
		if !strings.HasPrefix(name, "LIFELINE_") || strings.HasSuffix(name, "_JAVA_OPTS") {
			kept = append(kept, setting)
		}
	}
	return kept
}

// end ends the broker last: the jobs still send to it while they end.
func (d *dev) end() {
	end(d.parts)
	if d.broker != nil {
		d.broker.stop()
	}
}

// beside finds a program of Lifeline: beside this one, or where a clone has them.
func beside(program string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the programs beside this one: %w", err)
	}
	here := filepath.Dir(self)
	for _, folder := range []string{here, filepath.Join(here, "../emitter/bin")} {
		path := filepath.Join(folder, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: %s has no such program; install it there, or in a clone run make build", program, here)
}
