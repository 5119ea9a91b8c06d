package clock

import (
	"testing"

	"lifeline/loadgen/systemtest"
)

func TestAnAlarmRingsAtTheTimeThatWasSetLast(t *testing.T) {
	systemtest.Mark(t)
	alarm, err := NewAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer alarm.Close()
	const hour = 3600 * 1_000_000_000
	alarm.Set(Now()+1_000_000, Now()+2_000_000)
	alarm.Set(Now()+hour, Now()+hour) // put off, unless it has rung
	due := Now() + 20_000_000
	alarm.Set(due, due)
	if alarm.Wait(); Now() < due {
		alarm.Wait() // the machine was slow, and the first one has rung
		if Now() < due {
			t.Error("rang too early")
		}
	}
	alarm.Set(Now()+hour, Now()+hour)
	alarm.Set(1, Now()) // has passed
	alarm.Wait()
	alarm.Set(Now()+1_000_000, Now()+hour)
	alarm.Set(Now()+1_000_000, Now()+hour+1) // as it is set
	if at := alarm.at; at > Now()+hour {
		t.Errorf("set again for %d", at)
	}
}
