package kafkawire

import (
	"context"
	"errors"
	"testing"

	"lifeline/loadgen/transport/kafkalib"
)

func TestPublishersWaitForNobodyWhoAsksForNewLeaders(t *testing.T) {
	asked, release := make(chan bool), make(chan error)
	l := leaders{ask: func(context.Context, string) ([]kafkalib.Leader, error) {
		asked <- true
		return []kafkalib.Leader{{Partition: 1, Address: "a:1"}}, <-release
	}}
	question := func() <-chan error {
		answer := make(chan error, 1)
		go func() {
			_, err := l.now("channel")
			answer <- err
		}()
		<-asked
		return answer
	}
	first := question()
	release <- nil
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	said := l.last("channel")
	said.at = said.at.Add(-fresh)
	l.remember("channel", said)

	second := question()
	if known, err := l.known("channel"); err != nil || len(known) != 1 {
		t.Errorf("while somebody asks: %v, %v", known, err)
	}
	gone := errors.New("no broker answers")
	release <- gone
	if err := <-second; !errors.Is(err, gone) {
		t.Errorf("the leaders of now: %v", err)
	}
	if known, err := l.known("channel"); err != nil || len(known) != 1 {
		t.Errorf("when nobody could tell: %v, %v", known, err)
	}
}
