package run

// silenceLimit is how many seconds a worker may go without a report. Workers report each second until they close their
// connections, which takes up to two minutes if a transaction waits for an unreachable broker.
const silenceLimit = 180

// silence counts the seconds since each worker's last report, by the coordinator's timer: a coordinator that was
// suspended must not blame its workers.
type silence map[int]int

func (v silence) heard(number int) { v[number] = 0 }

// done removes a worker that has finished.
func (v silence) done(number int) { delete(v, number) }

// second advances the counters and returns a worker that exceeds the limit.
func (v silence) second() (silent int, found bool) {
	for number := range v {
		v[number]++
		if v[number] > silenceLimit {
			silent, found = number, true
		}
	}
	return silent, found
}
