package generator

import (
	"container/heap"
	"math"
	"sync"

	"lifeline/loadgen/clock"
)

// agenda is a queue of generators, ordered by the time of their next message, from which one pacer at a time takes. While in the
// queue, a generator is the agenda's: its next message is read under the agenda's lock alone.
type agenda struct {
	mu      sync.Mutex
	queue   dueFirst
	pacer   *pacer // who takes; nil before the start and after the end
	calling bool   // the pacer has taken a generator and not come back
	taken   int64  // when it took the last one, or became the pacer
}

const never = math.MaxInt64 / 2 // 146 years

// entry is the next message of a generator in the queue.
type entry struct {
	generator *generator
	due       int64
	sequence  uint32
}

// add puts a generator in and reports whether it is now the first.
func (a *agenda) add(g *generator) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	heap.Push(&a.queue, g)
	return a.queue[0] == g
}

// first is the message that is next, empty where there is none; mine is false when p has been replaced.
func (a *agenda) first(p *pacer) (next entry, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pacer != p {
		return entry{}, false
	}
	a.calling = false
	if len(a.queue) == 0 {
		return entry{}, true
	}
	g := a.queue[0]
	return entry{g, g.due, g.next}, true
}

// take removes what first returned to p, unless p has been replaced.
func (a *agenda) take(p *pacer, next entry) (mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pacer != p {
		return false
	}
	a.calling, a.taken = true, clock.Now()
	heap.Remove(&a.queue, next.generator.place)
	return true
}

// replace makes successor the pacer where p still is.
func (a *agenda) replace(p, successor *pacer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pacer != p {
		return false
	}
	a.pacer, a.calling, a.taken = successor, false, clock.Now()
	return true
}

// waiting is since when the first message has been waiting for the pacer, in the future where it is not due yet or there is none,
// and whether the pacer is in a client's call.
func (a *agenda) waiting() (p *pacer, since int64, calling bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return a.pacer, never, a.calling
	}
	return a.pacer, max(a.queue[0].due, a.taken), a.calling
}

// end lets nobody take any more.
func (a *agenda) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pacer = nil
}

// empty removes all, and calls back for each one removed.
func (a *agenda) empty(each func(*generator)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, g := range a.queue {
		each(g)
	}
	a.queue = nil
}

// dueFirst is a heap that knows each generator's place.
type dueFirst []*generator

func (q dueFirst) Len() int           { return len(q) }
func (q dueFirst) Less(i, j int) bool { return q[i].due < q[j].due }
func (q dueFirst) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *dueFirst) Push(g any) {
	g.(*generator).place = len(*q)
	*q = append(*q, g.(*generator))
}

func (q *dueFirst) Pop() any {
	last := len(*q) - 1
	g := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return g
}
