package generator

import (
	"container/heap"
	"sync"
)

// agenda is a queue of generators, ordered by the time of their next message.
type agenda struct {
	mu    sync.Mutex
	queue dueFirst
}

// add puts a generator in and reports whether it is now the first.
func (a *agenda) add(g *generator) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	heap.Push(&a.queue, g)
	return a.queue[0] == g
}

// first is the generator whose message is next; nil where there is none.
func (a *agenda) first() *generator {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return nil
	}
	return a.queue[0]
}

// take removes g, which is first or was just before.
func (a *agenda) take(g *generator) {
	a.mu.Lock()
	defer a.mu.Unlock()
	heap.Remove(&a.queue, g.place)
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
