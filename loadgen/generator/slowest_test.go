package generator

import (
	"math/rand/v2"
	"testing"
)

func TestTheSlowestOfAllWorkersAreTold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var workers [3]Slowest
	for i, rtt := range random.Perm(10 * SlowestKept) {
		workers[i%len(workers)].add(Trip{Sequence: uint32(i), RTT: int64(rtt)})
	}
	var all Slowest
	for _, worker := range workers {
		all.Merge(worker)
	}
	if len(all) != SlowestKept {
		t.Fatalf("%d of %d deliveries are kept", len(all), SlowestKept)
	}
	for i, trip := range all {
		if want := int64(10*SlowestKept - 1 - i); trip.RTT != want {
			t.Fatalf("place %d has a round trip of %d, not %d", i, trip.RTT, want)
		}
	}
}

func TestFewDeliveriesAreAllTold(t *testing.T) {
	var few Slowest
	for _, rtt := range []int64{2, 3, 2, 1} {
		few.add(Trip{RTT: rtt})
	}
	if len(few) != 4 || few[0].RTT != 3 || few[3].RTT != 1 {
		t.Errorf("%v", few)
	}
}
