package harness

import (
	"encoding/csv"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// RollInterval is how often the archive publishes what it has read.
const RollInterval = 2 * time.Second

// Jobs is one `lifeline-jobs run` that can be killed and restarted on the same archive.
type Jobs struct {
	*Process
	Archive string

	arguments []string
	published string // names of the manifests at the last WaitForManifest
}

// StartJobs runs the archive and whichever other jobs are named, and waits until they are ready.
func StartJobs(t T, broker *Broker, others ...string) *Jobs {
	t.Helper()
	archive := t.TempDir() + "/archive"
	arguments := []string{"run"}
	set := func(key, value string) { arguments = append(arguments, "--set", key+"="+value) }
	set("broker.url", broker.URL)
	set("jobs", strings.Join(append([]string{"archive"}, others...), ","))
	set("archive.dir", archive)
	set("archive.roll.interval", RollInterval.String())
	set("state.dir", t.TempDir())
	if broker.Kind == "kafka" { // the group waits that long for a member that was killed; 45 s by default
		set("kafka.session.timeout.ms", "6000")
		set("kafka.heartbeat.interval.ms", "1500")
	}
	for key, setting := range map[string]string{
		"LIFELINE_TLS_CA": "broker.tls.ca", "LIFELINE_TLS_CERT": "broker.tls.cert", "LIFELINE_TLS_KEY": "broker.tls.key",
		"LIFELINE_USER": "broker.user", "LIFELINE_PASSWORD_FILE": "broker.password.file",
		"LIFELINE_NATS_CREDS": "broker.nats.creds", "LIFELINE_SIGNING_KEY_FILE": "signature.keys"} {
		if value, found := broker.Env[key]; found {
			set(setting, value)
		}
	}
	jobs := &Jobs{Archive: archive, arguments: arguments}
	jobs.Restart(t)
	return jobs
}

// What jobs say that found no broker, or one that was on its way up or down: a Kafka that starts knows its topics late.
var brokerIsAway = regexp.MustCompile("cannot connect|does not serve|cannot be looked at|does not answer|has no topic")

// Begin starts them again, whatever becomes of them.
func (j *Jobs) Begin(t T) { j.Process = Start(t, nil, Script("lifeline-jobs"), j.arguments...) }

// Restart restarts them after Kill or Terminate, and waits until they are ready. Like a supervisor it repeats the start
// of jobs that end because they find no broker or lose it.
func (j *Jobs) Restart(t T) {
	t.Helper()
	for deadline := time.Now().Add(testTimeout); ; time.Sleep(2 * time.Second) { // each is a start of Java
		j.Begin(t)
		for j.Running() && !strings.Contains(j.Stdout(), "ready: ") && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		if j.Running() || time.Now().After(deadline) || !brokerIsAway.MatchString(j.Stderr()) {
			break
		}
	}
	j.WaitForOutput(t, time.Second, `ready: (.*)`)
}

// Stop shuts them down: the archive publishes buffered events.
func (j *Jobs) Stop(t T) {
	t.Helper()
	j.Terminate()
	if code := j.Wait(t, testTimeout); code != 0 && code != 143 {
		t.Fatalf("lifeline-jobs exited with %d after SIGTERM\n%s", code, j.Stderr())
	}
}

// Row is one row of a query's answer, by column.
type Row map[string]string

// Int is a column's number; an empty one is 0.
func (r Row) Int(column string) int64 {
	value, _ := strconv.ParseInt(r[column], 10, 64)
	return value
}

// Query queries the archive with `lifeline-jobs sql`. An empty archive has no rows.
func Query(t T, archive, sql string) []Row {
	t.Helper()
	query := Start(t, nil, Script("lifeline-jobs"), "sql", "--archive", archive, "--csv", sql)
	if code := query.Wait(t, testTimeout); code != 0 {
		if strings.Contains(query.Stderr(), "nothing has been published into it yet") {
			return nil
		}
		t.Fatalf("lifeline-jobs sql exited with %d: %s", code, query.Stderr())
	}
	records, err := csv.NewReader(strings.NewReader(query.Stdout())).ReadAll()
	if err != nil || len(records) == 0 {
		t.Fatalf("lifeline-jobs sql gave no CSV: %v\n%s", err, query.Stdout())
	}
	rows := make([]Row, 0, len(records)-1)
	for _, record := range records[1:] {
		row := Row{}
		for i, column := range records[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// WaitForManifest waits until the archive has published something since the last call, or until the deadline. A query in
// between would give the previous answer, at the cost of starting Java.
func (j *Jobs) WaitForManifest(deadline time.Time) {
	for j.Running() && time.Now().Before(deadline) && !j.Published() {
		time.Sleep(20 * time.Millisecond)
	}
}

// Published returns whether the archive has published something since the last call.
func (j *Jobs) Published() bool {
	manifests, _ := filepath.Glob(filepath.Join(j.Archive, "manifests", "*.json"))
	published := strings.Join(manifests, "\n")
	isNew := published != j.published
	j.published = published
	return isNew
}

// WaitForEvents waits until the archive holds that many events, and fails if it then holds more.
func (j *Jobs) WaitForEvents(t T, want int64) {
	t.Helper()
	var have int64
	for deadline := time.Now().Add(testTimeout); have < want; {
		if time.Now().After(deadline) || !j.Running() {
			t.Fatalf("wrong books: the archive holds %d of %d events\n%s", have, want, j.Stderr())
		}
		j.WaitForManifest(deadline)
		for _, row := range Query(t, j.Archive, "SELECT count(*) AS events FROM events") {
			have = row.Int("events")
		}
	}
	if have != want {
		t.Fatalf("wrong books: the archive holds %d events, but %d were emitted", have, want)
	}
}
