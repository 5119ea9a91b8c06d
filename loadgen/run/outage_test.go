package run

import (
	"math/rand/v2"
	"testing"
	"time"

	"lifeline/loadgen/generator"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// steady is a minute of ten messages each tick, except what change makes of them; the minute begins at second 100.
func steady(change func(second float64, t *generator.Ticks)) history {
	h := history{}
	for tick := int64(0); tick < 60*ticksPerSecond; tick++ {
		t := &generator.Ticks{Sent: 10, Received: 10}
		change(float64(tick)/float64(ticksPerSecond), t)
		h[100*ticksPerSecond+tick] = t
	}
	return h
}

const origin = int64(100 * time.Second)

func outageAt20(h history) result.Outage {
	return h.outage(scenario.Fault{}, origin+int64(20*time.Second), origin, schedule{10 * ticksPerSecond, 160 * ticksPerSecond})
}

// scattered is a minute of generators that publish every ten seconds, each at a random time of its own.
func scattered(seed uint64, generators int, received func(second float64) bool) history {
	random := rand.New(rand.NewPCG(seed, 1))
	h := steady(func(_ float64, t *generator.Ticks) { *t = generator.Ticks{} })
	for range generators {
		for tick := random.Int64N(10 * ticksPerSecond); tick < 60*ticksPerSecond; tick += 10 * ticksPerSecond {
			t := h[100*ticksPerSecond+tick]
			t.Sent++
			if received(float64(tick) / float64(ticksPerSecond)) {
				t.Received++
			} else {
				t.Lost++
			}
		}
	}
	return h
}

func TestTheRandomTimesOfFewGeneratorsAreNoOutage(t *testing.T) {
	for seed := range uint64(50) {
		for _, generators := range []int{80, 800} {
			o := outageAt20(scattered(seed, generators, func(float64) bool { return true }))
			if o.Recovered != 20 || o.LastBefore != o.FirstAfter {
				t.Fatalf("seed %d, %d generators, nothing happened: %+v", seed, generators, o)
			}
			o = outageAt20(scattered(seed, generators, func(second float64) bool { return second < 20.3 || second >= 25 }))
			if o.Recovered < 24.5 || o.Recovered > 26 {
				t.Fatalf("seed %d, %d generators, silent from 20.3 to 25: %+v", seed, generators, o)
			}
		}
	}
}

func TestTheEndOfPublishingIsNoOutage(t *testing.T) {
	h := steady(func(second float64, t *generator.Ticks) {
		if second > 21 { // but for the last message of all, which was held up
			*t = generator.Ticks{}
		}
	})
	h[159*ticksPerSecond] = &generator.Ticks{Received: 1}
	h[100*ticksPerSecond+205] = &generator.Ticks{Sent: 11, Received: 10}
	o := h.outage(scenario.Fault{}, origin+int64(20*time.Second), origin, schedule{10 * ticksPerSecond, 121 * ticksPerSecond})
	if o.Recovered != 20 || o.LastBefore != o.FirstAfter {
		t.Errorf("publishing ended at 21: %+v", o)
	}
}

func TestASilenceIsSeenFromItsBeginToItsEnd(t *testing.T) {
	o := outageAt20(steady(func(second float64, t *generator.Ticks) {
		if second >= 20.3 && second < 25 {
			t.Received, t.Lost, t.Failed = 0, 10, 1
		}
	}))
	if o.At != 20 || o.LastBefore != 20.3 || o.FirstAfter != 25 || o.LostDuring != 470 || o.FailedDuring != 47 {
		t.Errorf("silent from 20.3 to 25: %+v", o)
	}
	if o.Recovered < 24.8 || o.Recovered > 25.1 {
		t.Errorf("recovered at %g, not 25", o.Recovered)
	}
}

func TestAPartOfTheDeliveriesMissingIsAnOutageWithoutSilence(t *testing.T) {
	o := outageAt20(steady(func(second float64, t *generator.Ticks) {
		if second >= 20 && second < 30 {
			t.Received, t.Lost = 7, 3
		}
	}))
	if o.LastBefore != o.FirstAfter || o.Recovered < 29 || o.Recovered > 30.1 {
		t.Errorf("seven of ten until 30: %+v", o)
	}
}

func TestMessagesThatAreHeldUpLongerThanOthersAreAnOutageAfterTheSilenceToo(t *testing.T) {
	o := outageAt20(steady(func(second float64, t *generator.Ticks) {
		switch {
		case second >= 20 && second < 29:
			t.Received = 0
		case second == 29: // two thirds are back at once, with all that waited
			t.Received = 607
		case second > 29 && second < 36:
			t.Received = 7
		case second == 36: // the rest
			t.Received = 10 + 300 + 3*70
		}
	}))
	if o.LastBefore != 20 || o.FirstAfter != 29 || o.LostDuring != 0 {
		t.Errorf("silent from 20 to 29: %+v", o)
	}
	if o.Recovered < 35.9 || o.Recovered > 36.1 {
		t.Errorf("recovered at %g, not 36", o.Recovered)
	}
}

func TestTheEndOfPublishingIsNoRecovery(t *testing.T) {
	for seed := range uint64(50) {
		h := scattered(seed, 800, func(second float64) bool { return second < 20 || int(second*10)%3 != 0 }) // a node of three is away
		for tick := range 30 * ticksPerSecond {
			delete(h, 130*ticksPerSecond+tick)
		}
		h[135*ticksPerSecond] = &generator.Ticks{Received: 1} // while the fleet waits for the lost
		o := h.outage(scenario.Fault{}, origin+int64(20*time.Second), origin, schedule{10 * ticksPerSecond, 130 * ticksPerSecond})
		if _, recovered := o.Recovery(); recovered {
			t.Fatalf("seed %d, two thirds are delivered until the end at 30: %+v", seed, o)
		}
	}
}

func TestAFaultWithoutEffectIsNoOutage(t *testing.T) {
	o := outageAt20(steady(func(second float64, t *generator.Ticks) {
		if second >= 40 && second < 45 {
			t.Received, t.Lost = 0, 10 // something else
		}
	}))
	if o.Recovered != 20 || o.LastBefore != o.FirstAfter || o.LostDuring != 0 {
		t.Errorf("nothing happened at 20: %+v", o)
	}
}

func TestDeliveriesThatNeverComeBackAreAnOutageToTheEnd(t *testing.T) {
	o := outageAt20(steady(func(second float64, t *generator.Ticks) {
		if second >= 21 {
			t.Received, t.Lost = 0, 10
		}
	}))
	if o.LastBefore != 21 || o.LostDuring != 3900 {
		t.Errorf("silent from 21 on: %+v", o)
	}
	_, recovered := o.Recovery()
	if _, ended := o.Silence(); ended || recovered {
		t.Errorf("silent to the end: %+v", o)
	}
}

func TestAFaultBeforeTheFirstMessageOrAfterTheLastHasNoOutage(t *testing.T) {
	for name, h := range map[string]history{"a minute": steady(func(float64, *generator.Ticks) {}), "nothing": {}} {
		for _, second := range []int64{-50, -1, 60, 300} {
			o := h.outage(scenario.Fault{}, origin+second*int64(time.Second), origin, schedule{10 * ticksPerSecond, 160 * ticksPerSecond})
			if silence, ended := o.Silence(); o.At != float64(second) || o.LostDuring != 0 || ended && silence != 0 {
				t.Errorf("%s, fault at second %d: %+v", name, second, o)
			}
		}
	}
}
