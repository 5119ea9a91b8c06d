package chaos

import (
	"testing"
	"time"

	"lifeline/tests/harness"
)

// One row for each thread of each run that has anything in the archive: what it holds, by serial number, and the run's entry in
// the ledger. In one query, since each is a start of Java.
const archivedSQL = `SELECT * FROM
(SELECT run, worker, count(*) AS events, count(DISTINCT serial) AS serials, max(serial) AS last FROM "test.serial" GROUP BY run, worker)
LEFT JOIN (SELECT run, emitted, archived, dropped, missing, missing_batches, final
FROM (SELECT DISTINCT run, incarnation FROM "test.serial") JOIN ledger USING (incarnation)) USING (run)`

type archived struct{ events, serials, last int64 }

// verify returns the figures of the books that it has compared.
func (s *stage) verify() tally {
	found := map[[2]int64]archived{}
	books, rows := s.waitForFinalBooks()
	for _, row := range rows {
		found[[2]int64{row.Int("run"), row.Int("worker")}] = archived{row.Int("events"), row.Int("serials"), row.Int("last")}
	}
	var sum tally
	for _, emitter := range s.emitters {
		var events, returned int64
		book := books[int64(emitter.Run)]
		for thread, count := range emitter.Returned(s.t) {
			have := found[[2]int64{int64(emitter.Run), int64(thread)}]
			returned += count
			events += have.events
			sum.duplicated += have.events - have.serials
			checkThread(s.t, emitter.Run, thread, count, have, book.Int("dropped") == 0)
		}
		checkBook(s.t, emitter.Run, returned, events, book)
		sum.emitted += max(book.Int("emitted"), returned)
		sum.archived += events
		sum.dropped += book.Int("dropped")
		sum.missing += max(book.Int("missing"), returned-events-book.Int("dropped"), 0)
	}
	s.t.Logf("%d events of %d emitters archived exactly once, %d dropped and counted", sum.archived, len(s.emitters), sum.dropped)
	if sum.dropped == 0 {
		s.t.Errorf("no flood dropped anything: the test does not show that drops are counted")
	}
	return sum
}

// checkThread compares the serials in the archive with the side file. The process may have died between an emit and
// its note of it, so one more serial than was noted may be there.
func checkThread(t *testing.T, run, thread int, returned int64, have archived, nothingDropped bool) {
	if have.events != have.serials {
		t.Errorf("wrong books: run %d thread %d: %d events with %d different serials: some are there twice", run, thread, have.events,
			have.serials)
	}
	if have.events > 0 && have.last > returned {
		t.Errorf("wrong books: run %d thread %d: serial %d is archived, but only %d were emitted", run, thread, have.last, returned)
	}
	if nothingDropped && have.serials != returned && have.serials != returned+1 {
		t.Errorf("wrong books: run %d thread %d: %d emitted, %d archived, none counted as dropped", run, thread, returned, have.serials)
	}
	if nothingDropped && have.serials > 0 && have.last != have.serials-1 {
		t.Errorf("wrong books: run %d thread %d: the last of %d serials is %d: there are gaps", run, thread, have.serials, have.last)
	}
}

func checkBook(t *testing.T, run int, returned, events int64, book harness.Row) {
	if book == nil {
		if returned > 0 {
			t.Errorf("wrong books: run %d: %d emitted, and the ledger knows nothing of it", run, returned)
		}
		return
	}
	emitted, dropped := book.Int("emitted"), book.Int("dropped")
	if book.Int("archived") != events || emitted != events+dropped || book.Int("missing") != 0 || book.Int("missing_batches") != 0 {
		t.Errorf("wrong books: run %d: %d rows in the archive, but the ledger says %v", run, events, book)
	}
	if emitted < returned || emitted > returned+harness.SerialThreads {
		t.Errorf("wrong books: run %d: the program emitted %d, the ledger says %d", run, returned, emitted)
	}
}

// waitForFinalBooks waits until every emitter that emitted has a final, closed entry in the ledger.
func (s *stage) waitForFinalBooks() (map[int64]harness.Row, []harness.Row) {
	deadline := time.Now().Add(settleWithin)
	for {
		books := map[int64]harness.Row{}
		open := 0
		rows := harness.Query(s.t, s.jobs.Archive, archivedSQL)
		for _, row := range rows {
			books[row.Int("run")] = row
		}
		for _, emitter := range s.emitters {
			counts := emitter.Returned(s.t)
			book := books[int64(emitter.Run)]
			if counts[0]+counts[1] > 0 && (book == nil || book["final"] != "true" || book.Int("missing") != 0) {
				open++
			}
		}
		if open == 0 {
			return books, rows
		}
		if time.Now().After(deadline) {
			s.t.Errorf("wrong books: after %v the ledger of %d emitters is still open", settleWithin, open)
			return books, rows
		}
		s.waitUntilQuiet(deadline)
	}
}

// waitUntilQuiet waits until the archive has published something since the last call and then nothing for three rolls:
// a query is a start of Java, so one after each roll would be most of the test's work.
func (s *stage) waitUntilQuiet(deadline time.Time) {
	s.jobs.WaitForManifest(deadline)
	for quiet := time.Now(); time.Since(quiet) < 3*harness.RollInterval && time.Now().Before(deadline); {
		if s.jobs.Published() {
			quiet = time.Now()
		}
		time.Sleep(20 * time.Millisecond)
	}
}
