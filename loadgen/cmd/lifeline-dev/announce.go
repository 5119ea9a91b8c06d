package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// announced is the line of --json.
type announced struct {
	URL       string         `json:"url"`
	Jobs      string         `json:"jobs,omitempty"` // their health
	Page      string         `json:"page,omitempty"`
	Directory string         `json:"directory"`
	Processes map[string]int `json:"pids"`
}

// announce prints each address when it answers.
func (d *dev) announce(ctx context.Context) error {
	all := announced{URL: d.url, Directory: d.folder.path, Processes: map[string]int{"lifeline-dev": os.Getpid()}}
	d.line("export LIFELINE_URL=%s", quoted(d.url))
	if d.jobs != nil {
		address, err := d.jobs.ready(ctx, "/health")
		if err != nil {
			return err
		}
		all.Jobs = address + "/health"
		d.line("jobs: %s", all.Jobs)
	}
	if d.page != nil {
		address, err := d.page.ready(ctx, "/api/v1/status")
		if err != nil {
			return err
		}
		all.Page = address + "/"
		d.line("page: %s", all.Page)
	}
	if !d.json {
		d.explainEnd()
		return nil
	}
	for _, p := range d.parts {
		all.Processes[p.name] = p.process.Pid()
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

func (d *dev) line(format string, values ...any) {
	if !d.json {
		fmt.Printf(format+"\n", values...)
	}
}

func (d *dev) explainEnd() {
	what := "deletes the data"
	if d.keep != "" {
		what = "keeps the data in " + d.folder.path
	}
	fmt.Fprintf(os.Stderr, "lifeline-dev: run the first line in another terminal, then an instrumented program; Ctrl-C here ends all and %s\n", what)
}

var plain = regexp.MustCompile(`^[A-Za-z0-9:/.,@%_=+-]+$`)

// quoted is a word for a shell.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
