package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/study"
	"lifeline/loadgen/study/derived"
	"lifeline/loadgen/study/ksqldb"
)

// ksqlDB holds the options for an external ksqlDB server and its Kafka.
type ksqlDB struct {
	server ksqldb.Server
	kafka  scenario.Broker
}

func (k *ksqlDB) register(set *flag.FlagSet) {
	set.StringVar(&k.server.URL, "ksqldb", "", "your own ksqlDB's `URL`: http://HOST:PORT or https://; needs --kafka")
	set.StringVar(&k.server.User, "ksqldb-user", "", "`NAME` for ksqlDB; needs --ksqldb-password-file")
	set.StringVar(&k.server.PasswordFile, "ksqldb-password-file", "", "`FILE` that holds the password")
	set.StringVar(&k.server.CAFile, "ksqldb-ca", "", "PEM `FILE` of ksqlDB's CA certificates")
	set.StringVar(&k.kafka.URL, "kafka", "", "`URL` of the Kafka that ksqlDB reads: kafka://HOST:PORT, with /?tls=true for TLS")
	set.StringVar(&k.kafka.User, "kafka-user", "", "`NAME` for Kafka; needs --kafka-password-file")
	set.StringVar(&k.kafka.PasswordFile, "kafka-password-file", "", "`FILE` that holds the password")
	set.StringVar(&k.kafka.CAFile, "kafka-ca", "", "PEM `FILE` of Kafka's CA certificates")
}

// incomplete returns the missing or misplaced option; empty if none.
func (k *ksqlDB) incomplete() string {
	switch {
	case k.server == (ksqldb.Server{}) && k.kafka == (scenario.Broker{}):
		return ""
	case k.server.URL == "":
		return "--ksqldb URL is missing; all brokers but the Kafka that a ksqlDB reads are started here"
	case k.kafka.URL == "":
		return "--kafka URL is missing: ksqlDB reads a Kafka, and generators have to publish to the same one"
	}
	if strings.Contains(k.kafka.URL, "@") { // here, because a scenario's error would repeat it
		return "--kafka: a password in a URL would end in reports; write --kafka-user and --kafka-password-file"
	}
	return ""
}

// changes set the scenario's Kafka address; none without ksqlDB.
func (k *ksqlDB) changes() []string {
	var all []string
	for _, value := range []struct{ key, text string }{
		{"url", k.kafka.URL}, {"user", k.kafka.User}, {"password_file", k.kafka.PasswordFile}, {"ca_file", k.kafka.CAFile},
	} {
		if value.text != "" {
			all = append(all, scenario.Change("broker."+value.key, value.text))
		}
	}
	return all
}

// runners adds the runners that need the server. It checks both servers first: the study's other points take hours.
func (k *ksqlDB) runners(ctx context.Context, all map[study.Kind]study.Runner) error {
	client, err := ksqldb.New(k.server)
	if err != nil {
		return err
	}
	s, err := scenario.Load("secondary-ksqldb", k.changes()...)
	if err != nil {
		return err
	}
	warnIf(k.server.ExposesPassword(), k.server.URL)
	warnIf(s.Broker.ExposesPassword(), s.Broker.URL)
	if _, err := derived.Meet(ctx, s.Broker, client); err != nil {
		return err
	}
	for kind, run := range map[study.Kind]func(context.Context, scenario.Scenario, *ksqldb.Client) (result.Result, error){
		study.KsqlDBStanding: derived.RunStandingQuery, study.KsqlDBContinuous: derived.RunPushQuery,
	} {
		all[kind] = func(ctx context.Context, s scenario.Scenario) (study.Measured, error) {
			defer context.AfterFunc(ctx, func() {
				fmt.Fprintln(os.Stderr, "fleet study: dropping streams and topics on ksqlDB, which may take a minute; another Ctrl-C leaves them there")
			})()
			found, err := run(ctx, s, client)
			return study.Measured{Result: found}, err
		}
	}
	return nil
}
