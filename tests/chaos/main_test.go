package chaos

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// tally is the sum over all tests of this package, for the last line of `make test-chaos`.
type tally struct {
	kills, outages             int64
	emitted, archived, dropped int64 // events: archived are those in the topic, or where jobs run in the archive
	recovered                  int64 // events that recoveries found in the rings of dead emitters
	resent                     int64 // batches that recoveries, or sinks after an outage, had to send once more
	missing, duplicated        int64 // events
}

func (s *tally) add(other tally) {
	s.kills += other.kills
	s.outages += other.outages
	s.emitted += other.emitted
	s.archived += other.archived
	s.dropped += other.dropped
	s.recovered += other.recovered
	s.resent += other.resent
	s.missing += other.missing
	s.duplicated += other.duplicated
}

func (s *tally) String() string {
	return fmt.Sprintf("kills=%d outages=%d emitted=%d archived=%d dropped=%d recovered=%d resent=%d missing=%d duplicated=%d",
		s.kills, s.outages, s.emitted, s.archived, s.dropped, s.recovered, s.resent, s.missing, s.duplicated)
}

var (
	total     tally
	totalLock sync.Mutex
)

// enter adds a test's figures to the closing line.
func enter(figures tally) {
	totalLock.Lock()
	defer totalLock.Unlock()
	total.add(figures)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if total.missing != 0 || total.duplicated != 0 {
		code = 1
	}
	fmt.Printf("chaos: %s\n", &total)
	os.Exit(code)
}
