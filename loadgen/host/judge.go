package host

import (
	"fmt"
	"strings"
	"time"

	"lifeline/loadgen/result"
)

// Limits of the noise gauges. Beyond one of them the times of a run say more about the machine than about the broker.
const (
	MaxOthers       = 0.15                  // of all cores: the study's machines were more than 85 % idle
	MaxSteal        = 0.02                  // of all cores
	MaxHiccup       = 2 * time.Millisecond  // 99th percentile
	MaxRunQueueWait = 50 * time.Microsecond // mean, of a ready thread of broker or fleet
	MaxLateness     = 5 * time.Millisecond  // 99th percentile, of the generators
)

// Judge returns why the times of a run are invalid, a sentence for each gauge that is beyond its limit; none for a valid
// run.
func Judge(cores int, noise result.Noise, lateness result.Distribution) []string {
	var invalid []string
	fail := func(beyond bool, format string, values ...any) {
		if beyond {
			invalid = append(invalid, fmt.Sprintf(format, values...))
		}
	}
	late := time.Duration(lateness.At(99))
	fail(noise.Others > MaxOthers*float64(cores), "other processes used %.2f of %d cores%s (limit %.2f; a broker that "+
		"the fleet did not start is one of them): end them, or wait",
		noise.Others, cores, named(", among them ", noise.Busiest), MaxOthers*float64(cores))
	fail(noise.Steal > MaxSteal, "the hypervisor kept %.1f %% of the CPU for other machines (limit %.0f %%)",
		100*noise.Steal, 100*MaxSteal)
	fail(noise.HiccupP99 > int64(MaxHiccup), "an idle thread woke %v late in 1 of 100 cases (limit %v): the machine stalls%s",
		time.Duration(noise.HiccupP99).Round(10*time.Microsecond), MaxHiccup, named("; beside the fleet ran ", noise.Busiest))
	fail(noise.RunQueueWait > float64(MaxRunQueueWait), "a ready thread of broker or fleet waited %v for a core on average "+
		"(limit %v): the machine is too small or too busy", time.Duration(noise.RunQueueWait).Round(time.Microsecond), MaxRunQueueWait)
	fail(late > MaxLateness, "generators published %v late in 1 of 100 cases (limit %v)",
		late.Round(10*time.Microsecond), MaxLateness)
	return invalid
}

// named is a clause with the largest CPU users; empty if none stands out.
func named(begin string, busiest []result.Process) string {
	var names []string
	for _, process := range busiest {
		names = append(names, fmt.Sprintf("%s (process %d) %.2f", process.Name, process.ID, process.Cores))
	}
	if len(names) == 0 {
		return ""
	}
	return begin + strings.Join(names, ", ")
}
