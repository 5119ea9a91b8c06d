package absence

import (
	"testing"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

const second = int64(1e9)

func TestAMessageMeetsAnAbsenceByTheTimeOfItsSending(t *testing.T) {
	var l Log
	heard := clock.Now() - 5*second
	l.Begin(heard)
	during := clock.Now()
	if got := l.Missed(during); got != transport.Away {
		t.Errorf("during the absence: %v", got)
	}
	l.End(l.Generation())
	after := clock.Now()
	for name, c := range map[string]struct {
		sent int64
		want transport.Presence
	}{
		"long before":                        {heard - 2*second, transport.Present},
		"under way when the connection went": {heard - second/2, transport.Unclear},
		"before it was noticed":              {heard + second, transport.Unclear},
		"while it was away":                  {during, transport.Away},
		"when other nodes may not know yet":  {after + second/2, transport.Unclear},
		"long after":                         {after + 2*second, transport.Present},
	} {
		if got := l.Missed(c.sent); got != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

func TestAConnectionThatBrokeAgainDoesNotEndAnAbsence(t *testing.T) {
	var l Log
	l.Begin(clock.Now())
	first := l.Generation()
	l.Begin(clock.Now())
	l.End(first)
	if got := l.Missed(clock.Now() + 10*second); got != transport.Away {
		t.Errorf("the second connection is not confirmed, but the subscription is %v", got)
	}
	l.End(l.Generation())
	if got := l.Missed(clock.Now() + 10*second); got != transport.Present {
		t.Errorf("confirmed, but %v", got)
	}
}

func TestASubscriptionWithoutALogIsAlwaysPresent(t *testing.T) {
	var l *Log
	l.Begin(1)
	l.End(l.Generation())
	if got := l.Missed(1); got != transport.Present {
		t.Errorf("got %v", got)
	}
}
