package run

import (
	"testing"

	"lifeline/loadgen/scenario"
)

func TestAFleetOnSeveralKafkaNodesIsPlannedWithTheDescriptorsThatItHoldsWhileOneIsDown(t *testing.T) {
	for change, want := range map[string]int{
		"broker.nodes=1": 3, "broker.nodes=3": 4, "broker.url=kafka://a.example": 3, "broker.url=kafka://a.example,b.example": 4,
	} {
		s, err := scenario.Load("", "transport=kafka", change)
		if err != nil {
			t.Fatal(err)
		}
		if traits, err := traitsOf(s); err != nil || traits.Descriptors != want {
			t.Errorf("%s: %d descriptors for a connection, %v; want %d", change, traits.Descriptors, err, want)
		}
	}
}
