package main

import (
	"context"
	"fmt"

	"lifeline/loadgen/certificates"
	"lifeline/loadgen/cli"
)

var certificatesVerb = verb{name: "certificates", summary: "make certificates for agents and their coordinator", run: makeCertificates}

const certificatesUsage = `Usage: fleet certificates FOLDER HOST...

Makes, for those without a PKI, a CA and credentials that are valid for 30 days: FOLDER/coordinator, and FOLDER/HOST for each
agent. HOST is a name or an IP address by which the coordinator reaches it; that of a wildcard such as *.agents goes into
FOLDER/agents. Copy each folder to its machine only. The CA's key is not kept, so a further host needs new certificates for all.

  fleet certificates certificates host1.example host2.example
  fleet certificates certificates 10.0.0.1 10.0.0.2

`

func makeCertificates(_ context.Context, arguments []string) error {
	set := cli.Options("fleet certificates", certificatesUsage)
	rest, err := cli.Parse(set, arguments)
	if err != nil {
		return err
	}
	if len(rest) < 2 {
		return cli.Misused(set, "which folder, and which hosts?")
	}
	folders, err := certificates.Write(rest[0], rest[1:]...)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		fmt.Println(folder)
	}
	return nil
}
