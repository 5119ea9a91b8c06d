package unharmed

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lifeline/tests/harness"
)

func TestWithABrokerThatAsksForClientCertificates(t *testing.T) {
	harness.System(t)
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			broker := harness.StartBroker(t, kind, "--mtls")
			broker.SetUp(t)
			certified := broker.Settings()
			anonymous := slices.DeleteFunc(slices.Clone(certified), func(setting string) bool {
				return strings.HasPrefix(setting, "LIFELINE_TLS_CERT=") || strings.HasPrefix(setting, "LIFELINE_TLS_KEY=")
			})

			t.Run("a program without one runs on", func(t *testing.T) {
				expectUnharmed(t, "client certificate.*LIFELINE_TLS_CERT", anonymous...)
			})
			t.Run("events of a program without one wait until they are sent with one", func(t *testing.T) {
				rings := harness.MemoryDir(t)
				settings := append(anonymous, "LIFELINE_RING_DIR="+rings)
				emitter := harness.StartSerialEmitter(t, settings, t.TempDir(), 0, 1000, 0)
				for deadline := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
					if returned := emitter.Returned(t); returned[0]+returned[1] == 1000 {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("not all events were emitted: %s", emitter.Stderr())
					}
				}
				emitter.Kill() // it would wait a minute for its events to leave
				jobs := harness.StartJobs(t, broker)
				harness.Run(t, limit, certified, harness.Program(t, "lifeline-recover"), "--ring-dir", rings)
				jobs.WaitForEvents(t, 1000)
			})
		})
	}
}
