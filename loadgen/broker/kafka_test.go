package broker_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
)

func TestAKafkaNodeKeepsItsPortAndItsMessagesOverItsDeath(t *testing.T) {
	systemtest.Mark(t)
	if err := systemtest.InstallKafka(); err != nil {
		t.Fatal(err)
	}
	cluster := start(t, scenario.Scenario{Transport: "kafka", Generators: 10})
	servers := cluster.Servers()
	client, err := kgo.NewClient(kgo.SeedBrokers(servers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := within(t, 3*time.Minute)
	const messages = 50
	for _, topic := range []string{"fleet-test", "fleet-tested"} { // the second one is another run's
		if _, err := kadm.NewClient(client).CreateTopic(ctx, 3, 1, nil, topic); err != nil {
			t.Fatal(err)
		}
		for range messages {
			if err := client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("message")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cluster.Kill(0); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Start(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if again := cluster.Servers(); !slices.Equal(again, servers) {
		t.Errorf("the node was at %v and is at %v", servers, again)
	}
	counters := count(t, cluster)
	if counters.Stored != messages {
		t.Errorf("wrong books: the topic holds %d messages, want %d", counters.Stored, messages)
	}
	if !regexp.MustCompile(`^Kafka \d+\.\d+\.\d+`).MatchString(counters.Name) {
		t.Errorf("the broker calls itself %q", counters.Name)
	}
}

func TestWithoutKafkasJarsTheErrorTellsHowToGetThem(t *testing.T) {
	t.Setenv("LIFELINE_KAFKA_JARS", t.TempDir())
	_, err := startIn(context.Background(), t, scenario.Scenario{Transport: "kafka"})
	if err == nil || !strings.Contains(err.Error(), "scripts/broker install kafka") {
		t.Errorf("the error is: %v", err)
	}
}
