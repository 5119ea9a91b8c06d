package unharmed

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lifeline/tests/harness"
)

// Jobs start in some seconds, or in many on a busy machine. Kafka's clients would try for a minute if they were let.
const refusedWithin = 55 * time.Second

// One broker with TLS and passwords, on which one thing after the other is wrong, and in the end nothing.
func TestWithABrokerThatAsksForTLSAndPasswords(t *testing.T) {
	harness.System(t)
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			broker := harness.StartBroker(t, kind, "--tls", "--auth")
			with := func(settings ...string) []string { return append(broker.Settings(), settings...) }

			t.Run("a program whose stream does not exist runs on", func(t *testing.T) {
				expectUnharmed(t, "lifeline-setup", with("LIFELINE_FLUSH_TIMEOUT_MS=5000")...)
			})
			broker.SetUp(t)
			wrong := filepath.Join(t.TempDir(), "password")
			if err := os.WriteFile(wrong, []byte(secret+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Run("a program with the wrong password runs on", func(t *testing.T) {
				expectUnharmed(t, "(?i)auth|credentials", with("LIFELINE_PASSWORD_FILE="+wrong)...)
			})
			t.Run("a program that does not trust the broker runs on", func(t *testing.T) {
				expectUnharmed(t, "(?i)certificate", with("LIFELINE_TLS_CA=/etc/ssl/certs/ca-certificates.crt")...)
			})
			t.Run("jobs with the wrong password say so and end", func(t *testing.T) {
				expectJobsRefused(t, broker, "broker.password.file", wrong, map[string]string{
					"nats": "Authorization Violation", "kafka": "check broker.user and broker.password.file"}[kind])
			})
			t.Run("jobs that do not trust the broker say so and end", func(t *testing.T) {
				expectJobsRefused(t, broker, "broker.tls.ca", "/etc/ssl/certs/ca-certificates.crt", map[string]string{
					"nats": "certification path.*check broker.tls.ca", "kafka": "certification path.*check broker.tls.ca"}[kind])
			})
			t.Run("events of a program with the right settings reach the archive", func(t *testing.T) {
				jobs := harness.StartJobs(t, broker)
				settings := with("LIFELINE_RING_DIR=" + harness.MemoryDir(t))
				emitter := harness.StartSerialEmitter(t, settings, t.TempDir(), 0, 1000, 0)
				if code := emitter.Wait(t, limit); code != 0 || emitter.Stderr() != "" {
					t.Fatalf("exit code %d, stderr %q", code, emitter.Stderr())
				}
				jobs.WaitForEvents(t, 1000)
			})
		})
	}
}

// expectJobsRefused starts jobs with one setting that is wrong: they end with one sentence that says which.
func expectJobsRefused(t *testing.T, broker *harness.Broker, key, value, sentence string) {
	t.Helper()
	jobs := harness.Start(t, nil, harness.Script("lifeline-jobs"), "run", "--set", "broker.url="+broker.URL, "--set", "jobs=archive",
		"--set", "archive.dir="+t.TempDir(), "--set", "broker.tls.ca="+broker.Env["LIFELINE_TLS_CA"],
		"--set", "broker.user="+broker.Env["LIFELINE_USER"], "--set", "broker.password.file="+broker.Env["LIFELINE_PASSWORD_FILE"],
		"--set", key+"="+value)
	if code := jobs.Wait(t, refusedWithin); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if !regexp.MustCompile("(?m)^lifeline-jobs: .*" + sentence).MatchString(jobs.Stderr()) {
		t.Errorf("the jobs should end with %q, but say %q", sentence, jobs.Stderr())
	}
	if strings.Contains(jobs.Stderr(), secret) || strings.Contains(jobs.Stderr(), "\tat ") {
		t.Errorf("the jobs tell the password, or where in their code they are: %s", jobs.Stderr())
	}
}
