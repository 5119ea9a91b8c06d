package run

import "testing"

func TestAWorkerThatSaysNothingForTooLongIsFound(t *testing.T) {
	watched := silence{}
	pass := func(seconds int) {
		for range seconds {
			if number, found := watched.second(); found {
				t.Fatalf("worker %d may still speak: %v", number, watched)
			}
		}
	}
	for number := range 3 {
		watched.heard(number)
	}
	pass(silenceLimit / 2)
	watched.heard(0)
	watched.done(2)
	pass(silenceLimit - silenceLimit/2)
	if number, found := watched.second(); !found || number != 1 {
		t.Errorf("worker %d, %v; worker 1 is silent: %v", number, found, watched)
	}
}
