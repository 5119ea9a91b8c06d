package kafkatest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/login"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
)

func TestPasswordsAndCertificatesAreUsed(t *testing.T) {
	systemtest.Mark(t)
	t.Parallel() // while the other broker's clients wait for a new leader
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			openByItsPasswordOnly(t, c, settingsOf(t, protected, "all"))
		})
	}
}

func openByItsPasswordOnly(t *testing.T, c client, settings transport.Settings) {
	t.Helper()
	made, _, channel := prepared(t, c, settings)
	box := subscribe(t, made, channel)
	connection := connect(t, made)
	publish(t, connection, channel, []string{"secret"})
	box.wait(t, 1)
	if err := connection.Close(within(t, testTimeout)); err != nil {
		t.Fatal(err)
	}

	settings.Login.Password = "not the one"
	intruder, _, err := c.open(settings)
	if err != nil {
		t.Fatal(err)
	}
	_, err = intruder.Connect(within(t, testTimeout), 0)
	if err == nil || !strings.Contains(err.Error(), "SASL") || strings.Contains(err.Error(), settings.Login.Password) {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestPasswordsThatAreNeverSentOpenTheDoorToo(t *testing.T) {
	systemtest.Mark(t)
	t.Parallel()
	settings := settingsOf(t, protected, "all")
	client := bare(t, settings)
	users := map[string]kadm.ScramMechanism{"scram-sha-256": kadm.ScramSha256, "scram-sha-512": kadm.ScramSha512}
	var wanted []kadm.UpsertSCRAM
	for name, mechanism := range users {
		wanted = append(wanted, kadm.UpsertSCRAM{User: name, Mechanism: mechanism, Iterations: 4096, Password: "of " + name})
	}
	altered, err := kadm.NewClient(client).AlterUserSCRAMs(within(t, testTimeout), nil, wanted)
	if err == nil {
		err = altered.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	for name := range users {
		settings := settings
		settings.Login = login.Login{User: name, Password: "of " + name, Mechanism: name}
		awaitLogin(t, settings)
		for _, c := range clients {
			t.Run(c.name+"/"+name, func(t *testing.T) { openByItsPasswordOnly(t, c, settings) })
		}
	}
}

// bare is a client of the library for what no transport does.
func bare(t *testing.T, settings transport.Settings) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(settings.Servers...), kgo.DialTLSConfig(settings.TLS), kgo.SASL(settings.Login.SASL()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// awaitLogin returns when the broker has heard of a user that it has been told of.
func awaitLogin(t *testing.T, settings transport.Settings) {
	t.Helper()
	client := bare(t, settings)
	for ctx := within(t, testTimeout); ; time.Sleep(20 * time.Millisecond) {
		err := client.Ping(ctx)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestABrokerThatTurnsTheFleetAwayIsToldAtOnceWithTheReason(t *testing.T) {
	systemtest.Mark(t)
	t.Parallel()
	settingsOf(t, protected, "all")
	for reason, change := range map[string]func(*scenario.Broker){
		"tls endpoint":               func(b *scenario.Broker) { b.URL, b.CAFile = strings.TrimSuffix(b.URL, "/?tls=true"), "" },
		"is SASL missing":            func(b *scenario.Broker) { b.User, b.PasswordFile = "", "" },
		"SASL_AUTHENTICATION_FAILED": func(b *scenario.Broker) { b.SASL = "scram-sha-256" },
		"certificate":                func(b *scenario.Broker) { b.CAFile = "" },
	} {
		access := protected().access
		change(&access)
		_, err := broker.Start(within(t, testTimeout), scenario.Scenario{Transport: "kafka", Broker: access}, t.TempDir())
		var failure *result.Failure
		if !errors.As(err, &failure) || failure.Cause != result.Refused || !strings.Contains(failure.Message, reason) {
			t.Errorf("%q is not said by %v", reason, err)
		}
	}
}

func TestTheCountersOfAProtectedBrokerAreReadAsItsUser(t *testing.T) {
	systemtest.Mark(t)
	t.Parallel()
	settings := settingsOf(t, protected, "all")
	made, _, channel := prepared(t, minimal, settings)
	connection := connect(t, made)
	const messages = 10
	publish(t, connection, channel, numbered("booked", messages))
	if err := connection.Close(within(t, testTimeout)); err != nil {
		t.Fatal(err)
	}
	counters, err := protected().cluster.Counters(within(t, testTimeout), settings.Run+"-"+channel)
	if err != nil {
		t.Fatal(err)
	}
	if counters.In != messages || counters.Stored != messages {
		t.Errorf("the broker's counters are %+v, and %d messages were published", counters, messages)
	}
}
