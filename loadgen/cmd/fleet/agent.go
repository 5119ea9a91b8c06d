package main

import (
	"context"
	"log"
	"net"
	"os"
	"strings"

	"lifeline/loadgen/agent"
	"lifeline/loadgen/certificates"
	"lifeline/loadgen/cli"
	"lifeline/loadgen/preflight"
)

var agentVerb = verb{name: "agent", summary: "run workers on this machine for a coordinator on another", run: runAgent}

const agentUsage = `Usage: fleet agent --certificates FOLDER [OPTION...]

Serves coordinators (fleet run --agents), one at a time: runs their workers on this machine, and reports its load. Both ends must
show a certificate of the same CA, in a folder with the files ca.crt, tls.crt and tls.key, as fleet certificates makes them and
Kubernetes mounts them. A run ends when its coordinator does, or does not answer for six seconds.

  fleet agent --certificates certificates/host1
  fleet agent --certificates certificates/host1 --listen 10.0.0.1:7070 --sources 10.0.0.1,10.0.0.11

`

func runAgent(ctx context.Context, arguments []string) error {
	set := cli.Options("fleet agent", agentUsage)
	address := set.String("listen", ":7070", "`HOST:PORT` to serve on; without a host on all addresses of this machine")
	folder := set.String("certificates", "", "`FOLDER` with ca.crt, tls.crt and tls.key")
	sources := set.String("sources", "", "`IP,IP...` of this machine that connections to the broker come from, in turn")
	rest, err := cli.Parse(set, arguments)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return cli.Misused(set, "it takes no argument")
	case *folder == "":
		return cli.Misused(set, "which --certificates? `fleet certificates` makes them")
	}
	options := agent.Options{Sources: list(*sources), Log: log.New(os.Stderr, "fleet agent: ", 0)}
	if err := agent.CheckSources(options.Sources); err != nil {
		return err
	}
	if options.TLS, err = certificates.Mutual(*folder); err != nil {
		return err
	}
	limits, err := preflight.Read()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	options.Log.Printf("listening on %s; %d ports for each of %s", listener.Addr(), limits.Ports,
		plural(max(1, len(options.Sources)), "source address", "source addresses"))
	return agent.Serve(ctx, listener, options)
}

// list is what commas separate.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
