package demo

import (
	"slices"
	"strings"
	"testing"

	"lifeline/tests/harness"
)

// Pipelines of pools of threads, and what limits each. They sleep, so that they run side by side, and a busy machine lengthens
// all operations alike: no limit may move by that. scripts/validate-bottleneck --pipelines has more.
var pipelines = []struct {
	name, kind, limits, stages string
}{
	{"one-reader", "calipers", "a", "1:sleep:200 4:sleep:100"},
	{"one-writer", "events", "b", "8:sleep:100 1:sleep:100"},
	{"three-stages", "events", "b", "2:sleep:50 1:sleep:200 4:sleep:100"},
	{"many-slow-writers", "calipers", "b", "1:sleep:10 4:sleep:800"},
	{"limit-that-moves", "calipers", "a b", "1:switch:200:20:12000 4:switch:100:1600:12000"},
	{"idle", "calipers", "", "-1:sleep:200 4:sleep:100 1:sleep:5"},
}

func TestTheLimitOfRealPipelinesIsNamedAndNoOther(t *testing.T) {
	harness.System(t)
	broker := harness.StartBroker(t, "nats")
	broker.SetUp(t)
	alerts := harness.WatchAlerts(t, broker)
	components := "a=stage.a,b=stage.b,c=stage.c,a=step.a,b=step.b,c=step.c"
	jobs := harness.Start(t, nil, harness.Script("lifeline-jobs"), "run", "--set", "broker.url="+broker.URL, "--set", "jobs=bottleneck",
		"--set", "bottleneck.components="+components, "--set", "state.dir="+t.TempDir())
	jobs.WaitForOutput(t, limit, `ready: (.*)`)
	for _, pipeline := range pipelines {
		settings := append(broker.Settings(), "LIFELINE_CONTEXT=session="+pipeline.name, "LIFELINE_RING_DIR="+harness.MemoryDir(t),
			"LIFELINE_RESOLUTION=stage.* summary interval=1s")
		running := harness.Start(t, settings, harness.Program(t, "pipeline"),
			append([]string{pipeline.kind, "600", "4"}, strings.Fields(pipeline.stages)...)...)
		defer running.Kill()
	}
	for _, pipeline := range pipelines {
		group := "session=" + pipeline.name
		limits := strings.Fields(pipeline.limits)
		for _, limit := range limits {
			if !alerts.WaitFor(group, limit) {
				t.Errorf("%s is limited by %s; alerts: %v", pipeline.name, limit, alerts.Raised(group))
			}
		}
		for _, alert := range alerts.Raised(group) {
			if !slices.Contains(limits, alert.Subject) || alert.Chance > 0.01 {
				t.Errorf("%s is limited by %q, the alert is %v", pipeline.name, limits, alert)
			}
		}
	}
}
