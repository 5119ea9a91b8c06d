package stored

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
)

// Kafka takes seconds to start, so all is asked in one test.
func TestTopicsAnswerAsAStreamDoes(t *testing.T) {
	systemtest.Mark(t)
	if err := systemtest.InstallKafka(); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load("", "transport=kafka", "generators=1")
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := broker.Start(t.Context(), s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Close(context.Background()) })
	a, err := openTopics(cluster.Servers()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	expect := func(newest byte, all int) {
		t.Helper()
		if got, err := a.latest(t.Context()); err != nil || len(got) != 1 || got[0] != newest {
			t.Errorf("the newest is %v, %v; want %d", got, err, newest)
		}
		for from, want := range map[time.Duration]int{-time.Hour: all, time.Hour: 0} {
			if read, err := a.history(t.Context(), time.Now().Add(from)); err != nil || read != want {
				t.Errorf("from %s: %d messages, %v; want %d", from, read, err, want)
			}
		}
	}
	const topic = "fleet"
	if _, err := a.(*topics).admin.CreateTopic(t.Context(), 2, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	producer, err := kgo.NewClient(kgo.SeedBrokers(cluster.Servers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	if _, err := a.latest(t.Context()); !errors.Is(err, errNothing) {
		t.Errorf("an empty topic: %v", err)
	}
	for number := range 5 {
		// A later message has a later time stamp, whichever partition has it; the second partition is empty for the first query.
		record := &kgo.Record{Topic: topic, Partition: int32(number % 4 / 3), Value: []byte{byte(number)}, Timestamp: time.Now().Add(time.Duration(number-10) * time.Second)}
		if err := producer.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
		expect(byte(number), number+1)
	}
}
