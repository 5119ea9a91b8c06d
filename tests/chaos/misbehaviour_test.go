package chaos

import (
	"crypto/tls"
	"regexp"
	"strconv"
	"testing"
	"time"

	"lifeline/tests/harness"
)

// A broker, or the network to it, fails while an emitter works, and recovers.
type misbehaviour struct {
	name      string
	begin     func(p *patient)
	end       func(p *patient)
	lasts     time.Duration
	complaint string // what the program's standard error says of it
	refuses   bool   // the broker takes some batches never: they are counted as dropped; they are not compressed
}

// patient is the test subject: a broker behind a proxy.
type patient struct {
	t         *testing.T
	broker    *harness.Broker
	proxy     *harness.Proxy
	authority *harness.Authority
	trust     []string // settings that the proxy's certificate asks for
}

const (
	patientRate   = 50_000
	healthyFor    = time.Second
	harmless      = 1.2                    // times as long as the program would have taken, and no longer
	unnoticed     = 500 * time.Millisecond // that a misbehaviour may hold up 256 emits, beside what the machine does
	misbehaveFor  = 5 * time.Second
	expiresWithin = 2 * time.Second
	mayBeLate     = 30 * time.Second // what the program says of a misbehaviour, on a machine that does much else
)

var misbehaviours = []misbehaviour{
	{
		name:      "accepts and never answers",
		begin:     func(p *patient) { p.proxy.Silence() },
		end:       func(p *patient) { p.proxy.Speak() },
		lasts:     12 * time.Second, // NATS's acknowledgements are waited for 10 s
		complaint: "does not answer",
	},
	{
		name:      "closes every connection after a while",
		begin:     func(p *patient) { p.proxy.CutAfter(30_000) },
		end:       func(p *patient) { p.proxy.Speak() },
		lasts:     misbehaveFor,
		complaint: "trying again",
	},
	{
		name: "has a certificate that expires",
		begin: func(p *patient) {
			time.Sleep(expiresWithin)
			p.proxy.Hangup()
		},
		end: func(p *patient) {
			p.proxy.Certify(p.authority.Certify(p.t, time.Hour))
			p.proxy.Hangup()
		},
		lasts:     misbehaveFor,
		complaint: "(?i)certificate",
	},
	{
		name:      "revokes the permission to publish",
		begin:     func(p *patient) { p.broker.Allow(p.t, false) },
		end:       func(p *patient) { p.broker.Allow(p.t, true) },
		lasts:     misbehaveFor,
		complaint: "may not|no permission",
	},
	{
		name:      "rejects messages as large as a batch",
		begin:     func(p *patient) { p.broker.LimitMessages(p.t, 3000) },
		end:       func(p *patient) { p.broker.LimitMessages(p.t, 1<<20) },
		lasts:     misbehaveFor,
		complaint: "rejects messages|accepts",
		refuses:   true,
	},
}

func TestNothingIsMissingAndTheProgramIsUnharmedWhenTheBroker(t *testing.T) {
	harness.System(t)
	t.Parallel()
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t, kind)
			for run, what := range misbehaviours {
				t.Run(what.name, func(t *testing.T) { p.suffer(t, run+1, what) })
			}
		})
	}
}

func newPatient(t *testing.T, kind string) *patient {
	p := &patient{t: t, proxy: harness.NewProxy(t), authority: harness.NewAuthority(t)}
	options := []string{"--auth", "--advertise", strconv.Itoa(p.proxy.Port())}
	if kind == "kafka" {
		options = append(options, "--acl")
	}
	p.broker = harness.StartBroker(t, kind, options...)
	p.proxy.To(p.broker)
	p.broker.SetUp(t)
	p.broker.Allow(t, true)
	return p
}

// suffer runs an emitter through one fault, and checks received events, output and duration.
func (p *patient) suffer(t *testing.T, run int, what misbehaviour) {
	p.t = t
	settings := append(p.broker.EmitterSettings(), "LIFELINE_URL="+p.proxy.URL(), "LIFELINE_RING_DIR="+harness.MemoryDir(t),
		"LIFELINE_FLUSH_TIMEOUT_MS=60000", "LIFELINE_SPOOL="+harness.MemoryDir(t),
		// If the harvester has no processor for seconds, the rings fill up: that costs time and no event.
		"LIFELINE_POLICY=block", "LIFELINE_BLOCK_TIMEOUT_MS=120000")
	if what.refuses {
		settings = append(settings, "LIFELINE_COMPRESSION=none")
	}
	if what.name == "has a certificate that expires" {
		defer p.proxy.Certify(tls.Certificate{})
		p.proxy.Certify(p.authority.Certify(t, expiresWithin))
		settings = append(settings, "LIFELINE_URL="+p.proxy.URL()+"/?tls=true", "LIFELINE_TLS_CA="+p.authority.File)
	}
	events := int((healthyFor + what.lasts + healthyFor).Seconds() * patientRate)
	standstill := harness.WatchStandstill(t)
	emitter := harness.StartSerialEmitter(t, settings, harness.MemoryDir(t), run, events, patientRate)
	time.Sleep(healthyFor)
	what.begin(p)
	time.Sleep(what.lasts)
	complaint := regexp.MustCompile(what.complaint)
	for late := time.Now().Add(mayBeLate); !complaint.MatchString(emitter.Stderr()) && time.Now().Before(late); {
		time.Sleep(20 * time.Millisecond)
	}
	what.end(p)
	if code := emitter.Wait(t, 4*time.Minute); code != 0 {
		t.Fatalf("the emitter exited with %d: %s", code, emitter.Stderr())
	}
	said := reportOf(t, emitter)
	sum := p.closeBooks(t, emitter, run)
	t.Logf("%s: %s; the longest pause of 256 emits was %.1f ms; said: %s", p.broker.Kind, &sum, said.LongestPauseMs, emitter.Stderr())
	if !complaint.MatchString(emitter.Stderr()) {
		t.Errorf("the program should complain with %q, but says %q", what.complaint, emitter.Stderr())
	}
	if sum.dropped > 0 != what.refuses {
		t.Errorf("wrong books: %d events were dropped", sum.dropped)
	}
	machines := said.machines(standstill()) + said.LibraryWaited
	if said.LongestPauseMs > (unnoticed.Seconds()+machines)*1e3 || said.Seconds > harmless*float64(events)/patientRate+machines {
		t.Errorf("the program took %.1f s, and paused for %.0f ms", said.Seconds, said.LongestPauseMs)
	}
}

// closeBooks reads the whole topic, of which only the run's own batches are looked at.
func (p *patient) closeBooks(t *testing.T, emitter *harness.SerialEmitter, run int) tally {
	books := newBooks(t)
	books.only = run
	books.note(emitter)
	harness.ReadTopic(t, p.broker, books.enter)
	sum := books.close()
	sum.outages = 1
	enter(sum)
	return sum
}
