package chaos

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	llb "lifeline/schemas/go"
	"lifeline/tests/harness"
)

// books compares two independent records: the emits that each emitter noted outside of the library, and the events in
// the topic. Only the counters in the batches connect them.
type books struct {
	t      *testing.T
	reader llb.Reader
	runs   map[int]*account
	only   int              // this run and no other, if not 0
	forked map[[16]byte]int // runs by incarnation, where events say it: forked processes have one context
}

// account covers one run of an emitter: one process, one incarnation.
type account struct {
	run         int
	returned    [harness.SerialThreads]int64
	incarnation [16]byte
	routes      map[uint16]*route
	seen        [harness.SerialThreads]bitset // by serial number
	arrived     int64                         // events, each serial once
	doubled     int64                         // events with a serial that had arrived
	strange     int64                         // events that were never emitted
	resent      int64                         // batches that came more than once, which every reader absorbs
	recovered   int64                         // events in batches that a recovery made
}

// route holds the observations of one stream of batches.
type route struct {
	crcs     map[uint64]uint32 // by sequence
	events   int64
	last     uint64 // the highest sequence, and what that batch says
	final    bool
	counters [llb.KnownCounters]int64
}

func newBooks(t *testing.T) *books { return &books{t: t, runs: map[int]*account{}} }

// note records a run's own report.
func (b *books) note(emitter *harness.SerialEmitter) {
	b.account(emitter.Run).returned = emitter.Returned(b.t)
}

func (b *books) account(run int) *account {
	if b.runs[run] == nil {
		b.runs[run] = &account{run: run, routes: map[uint16]*route{}}
	}
	return b.runs[run]
}

// enter records one message of the topic.
func (b *books) enter(message []byte) {
	if err := b.reader.Read(message); err != nil {
		b.t.Errorf("wrong books: the topic holds what is no batch: %v", err)
		return
	}
	run := b.runOf(message)
	header := b.reader.Header()
	if b.only != 0 && run != b.only {
		return
	}
	a := b.account(run)
	if len(a.routes) == 0 {
		a.incarnation = header.Incarnation
	} else if a.incarnation != header.Incarnation {
		b.t.Errorf("wrong books: run %d has a second incarnation, %x", a.run, header.Incarnation)
	}
	from := a.routes[header.Route]
	if from == nil {
		from = &route{crcs: map[uint64]uint32{}}
		a.routes[header.Route] = from
	}
	if crc, known := from.crcs[header.Sequence]; known {
		a.resent++
		if crc != b.reader.CRC() {
			b.t.Errorf("wrong books: run %d: batch %d came twice, and the second time with other bytes", a.run, header.Sequence)
		}
		return
	}
	from.crcs[header.Sequence] = b.reader.CRC()
	from.events += int64(header.EventCount)
	if header.Sequence > from.last {
		from.last, from.final = header.Sequence, header.Flags&llb.Final != 0
		for i := range from.counters {
			from.counters[i] = int64(header.Counters[i])
		}
	}
	if header.Flags&llb.Recovered != 0 {
		a.recovered += int64(header.EventCount)
	}
	for b.reader.Next() {
		if strings.HasPrefix(b.reader.Type().Name, "test.") {
			a.tick(int(b.reader.Uint32(0)), int(b.reader.Uint32(1)), b.reader.Uint64(2))
		}
	}
}

func (a *account) tick(run, thread int, serial uint64) {
	switch {
	case run != a.run || thread >= harness.SerialThreads || serial > 1<<40:
		a.strange++
	case a.seen[thread].set(serial):
		a.arrived++
	default:
		a.doubled++
	}
}

// runOf identifies a run by the emitter's context, which also identifies runs without events; forked processes by the
// events of the incarnation.
func (b *books) runOf(message []byte) int {
	header := b.reader.Header()
	if b.forked != nil {
		for b.reader.Next() {
			b.forked[header.Incarnation] = int(b.reader.Uint32(0))
		}
		run, known := b.forked[header.Incarnation]
		if !known {
			b.t.Errorf("wrong books: no event says which process incarnation %x is", header.Incarnation)
		}
		b.reader.Read(message)
		return run
	}
	for _, pair := range header.Context {
		if pair.Key == "run" {
			run, _ := strconv.Atoi(pair.Value)
			return run
		}
	}
	b.t.Errorf("wrong books: a batch of incarnation %x does not say which run made it", header.Incarnation)
	return -1
}

// close compares both sides, run by run, reports what does not balance and adds up.
func (b *books) close() tally {
	var sum tally
	for _, run := range sortedKeys(b.runs) {
		one, faults := b.runs[run].close()
		for _, fault := range faults {
			b.t.Errorf("wrong books: run %d: %s", run, fault)
		}
		sum.add(one)
	}
	return sum
}

func (a *account) close() (sum tally, faults []string) {
	fault := func(format string, arguments ...any) { faults = append(faults, fmt.Sprintf(format, arguments...)) }
	sum = tally{resent: a.resent, recovered: a.recovered, archived: a.arrived, duplicated: a.doubled}
	var unaccounted int64
	for number, r := range a.routes {
		sum.emitted += r.counters[llb.Emitted]
		sum.dropped += r.dropped(llb.DroppedRingFull, llb.DroppedSink)
		unaccounted += r.counters[llb.Emitted] - r.dropped(llb.DroppedRingFull, llb.DroppedSink) - r.events
		if gaps := r.last - uint64(len(r.crcs)); gaps > 0 && r.dropped(llb.DroppedSpoolFull, llb.DroppedSink) == 0 {
			fault("route %d: %d of %d batches are not in the topic", number, gaps, r.last)
		}
		if !r.final {
			fault("route %d: its last batch, %d, is not marked as the last", number, r.last)
		}
	}
	var returned int64
	for _, count := range a.returned {
		returned += count
	}
	absent, ahead := a.absent()
	sum.missing = max(0, unaccounted, absent-sum.dropped)
	if sum.missing > 0 {
		fault("%d of %d events are missing: by serial number %d are absent, of which %d were counted as dropped; "+
			"by the counters %d", sum.missing, returned, absent, sum.dropped, unaccounted)
	}
	if unaccounted < 0 {
		fault("%d events are there although they were counted as dropped, or not as emitted", -unaccounted)
	}
	if a.strange > 0 || ahead > harness.SerialThreads {
		fault("%d events were never emitted", a.strange+ahead)
	}
	if a.doubled > 0 {
		fault("%d events are there twice, in different batches", a.doubled)
	}
	if len(a.routes) == 0 {
		sum.emitted = returned
	} else if sum.emitted < returned || sum.emitted > returned+harness.SerialThreads {
		fault("the program emitted %d, the counters say %d", returned, sum.emitted)
	}
	return sum, faults
}

// absent counts emitted serials that did not arrive, and arrived ones that were not noted as emitted: the process may
// have died between an emit and its note of it.
func (a *account) absent() (absent, ahead int64) {
	for thread, count := range a.returned {
		there := a.seen[thread].countBelow(uint64(count))
		absent += count - there
		ahead += a.seen[thread].countBelow(1<<40) - there
	}
	return absent, ahead
}

func (r *route) dropped(from, to llb.Counter) int64 {
	var sum int64
	for i := from; i <= to; i++ {
		sum += r.counters[i]
	}
	return sum
}

func sortedKeys(accounts map[int]*account) []int {
	var keys []int
	for key := range accounts {
		keys = append(keys, key)
	}
	sort.Ints(keys)
	return keys
}
