package host

import (
	"fmt"
	"slices"
	"time"

	"lifeline/loadgen/result"
)

// Limits of the noise gauges. Beyond one of them the times of a run say more about the machine than about the broker.
//
// What is published is p99.8, and 0.2 % of the messages can be late in so few moments that no mean shows them: p99.8 is vouched for by
// the same percentile of what the machine and the generators add to it. Means guard what every message passes, and so p50. There is no
// limit for the greatest delay, since one stall of one core in hours makes it: the times without stalls stand beside p100.
const (
	// MaxHiccup is the 99.8th percentile of how late a thread wakes, on the worst core: on a machine with many of them, all the threads
	// of a broker that matter may be on that one.
	MaxHiccup = 2 * time.Millisecond
	// MaxLateness is the 99.8th percentile of the generators' own lateness.
	MaxLateness = 5 * time.Millisecond
	// MaxOthers is the mean use of other processes in cores, however many the machine has: a message passes through few threads, so
	// what 64 cores could spare may all be taken from the two that matter. The study's machines were more than 85 % idle.
	MaxOthers = 0.15
	// MaxSteal is the mean share of all cores.
	MaxSteal = 0.02
	// MaxRunQueueWait is the mean of the waits of ready threads of broker and fleet.
	MaxRunQueueWait = 50 * time.Microsecond
)

// Judge returns why the times of a run are invalid, a sentence for each gauge that is beyond its limit or was not read; none for a valid
// run. The sentences name no process: they are published.
func Judge(noise result.Noise, lateness result.Distribution) []string {
	invalid := slices.Clone(noise.Unseen)
	fail := func(beyond bool, format string, values ...any) {
		if beyond {
			invalid = append(invalid, fmt.Sprintf(format, values...))
		}
	}
	late := time.Duration(lateness.At(99.8))
	fail(noise.Others > MaxOthers, "other processes used %.2f cores (limit %.2f; a broker that the fleet did not start is one of them): "+
		"end them, or wait", noise.Others, MaxOthers)
	fail(noise.Steal > MaxSteal, "the hypervisor kept %.1f %% of the CPU for other machines (limit %.0f %%)",
		100*noise.Steal, 100*MaxSteal)
	fail(noise.HiccupP998 > int64(MaxHiccup), "an idle thread woke %v late in 2 of 1,000 cases on the worst core (limit %v): the machine "+
		"stalls", time.Duration(noise.HiccupP998).Round(10*time.Microsecond), MaxHiccup)
	fail(noise.RunQueueWait > float64(MaxRunQueueWait), "a ready thread of broker or fleet waited %v for a core on average "+
		"(limit %v): the machine is too small or too busy", time.Duration(noise.RunQueueWait).Round(time.Microsecond), MaxRunQueueWait)
	fail(late > MaxLateness, "generators published %v late in 2 of 1,000 cases (limit %v)",
		late.Round(10*time.Microsecond), MaxLateness)
	fail(lateness.Count == 0, "the generators' lateness was not measured: nobody knows whether they published on time")
	return invalid
}
