package run

import (
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
	return h.outage(scenario.Fault{}, origin+int64(20*time.Second), origin)
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
