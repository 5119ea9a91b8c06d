package kafkatest

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport/kafkalib"
)

func TestATopicThatExistsIsAnErrorAndAllOthersAreRemovedAgain(t *testing.T) {
	systemtest.Mark(t)
	settings := settingsOf(t, three, "leader")
	_, _, taken := prepared(t, library, settings)
	ours, _, err := library.open(settings)
	if err != nil {
		t.Fatal(err)
	}
	channels := []string{taken + "-a", taken + "-b", taken, taken + "-c", taken + "-d"}
	if err := ours.Prepare(within(t, testTimeout), channels); !errors.Is(err, kerr.TopicAlreadyExists) {
		t.Errorf("prepared with %v", err)
	}
	if err := ours.Remove(within(t, testTimeout)); err != nil {
		t.Error(err)
	}
	const agree = 100 * time.Millisecond
	client, err := kgo.NewClient(kgo.SeedBrokers(settings.Servers...), kgo.MetadataMinAge(agree))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for ctx, left := within(t, testTimeout), len(channels); left > 1; time.Sleep(agree) { // nodes hear of it in turn
		all, err := kadm.NewClient(client).ListTopics(ctx)
		if err != nil {
			t.Fatal(err)
		}
		left = 0
		for _, channel := range channels {
			if topic := kafkalib.Topic(settings, channel); all.Has(topic) {
				left++
			} else if channel == taken {
				t.Fatalf("topic %s, which was there before, is gone", topic)
			}
		}
	}
}
