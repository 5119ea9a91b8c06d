package run

// mostSilence is for how many seconds a worker may say nothing once its subscribers wait. It tells its progress each second, until it
// closes its connections; that takes some seconds, or two minutes where a transaction waits for a broker that is gone.
const mostSilence = 180

// vigil is for how many of the coordinator's own seconds each worker at work has said nothing: its own, so that one that was
// stopped and goes on blames nobody. A worker can hang as a broker can, and a run that nobody looks at must end all the same.
type vigil map[int]int

func (v vigil) heard(number int) { v[number] = 0 }

// done takes away a worker of which no more is awaited.
func (v vigil) done(number int) { delete(v, number) }

// second passes, and reports a worker that has been silent for too long.
func (v vigil) second() (silent int, found bool) {
	for number := range v {
		v[number]++
		if v[number] > mostSilence {
			silent, found = number, true
		}
	}
	return silent, found
}
