package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lifeline/loadgen/broker/ports"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/workdir"
)

// postgresCluster is an embedded PostgreSQL: one server, from the machine's packages.
type postgresCluster struct {
	*embedded
	*postgresCounters
	server string
	folder *workdir.Folder // for the data, where they belong to another user; else nil
}

func (c *postgresCluster) Servers() []string { return []string{c.server} }
func (c *postgresCluster) TLS() *TLS         { return nil }

// Close lets the server give its shared memory back, which belongs to the machine and outlives a server that is killed.
func (c *postgresCluster) Close(ctx context.Context) error {
	c.mutex.Lock()
	var running *life
	if len(c.nodes) > 0 && c.nodes[0].life != nil {
		running = c.nodes[0].life
		running.unwanted = true
	}
	c.mutex.Unlock()
	if running != nil && running.Signal(syscall.SIGQUIT) == nil {
		select {
		case <-running.Done():
		case <-time.After(postgresQuit):
		}
	}
	err := c.embedded.Close(ctx)
	if c.folder != nil {
		err = errors.Join(err, c.folder.Remove())
	}
	return err
}

// What initdb's superuser cannot do over a network: only fleet may connect, to its own database, from this machine.
const (
	postgresAccess = "host fleet fleet 127.0.0.0/8 trust\n"
	postgresRoles  = "CREATE ROLE fleet LOGIN\nCREATE DATABASE fleet OWNER fleet\n"
)

// Sessions besides the generators': the fleet's own questions, and a subscription of every worker, of which there are 64 at most.
const postgresReserve, postgresWorkers = 100, 64

// postgresQuit is far longer than an immediate shutdown takes, which waits for no client and writes nothing.
const postgresQuit = 10 * time.Second

func startPostgres(ctx context.Context, s scenario.Scenario, dir string) (Cluster, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	nodes, err := newEmbedded(dir, 1)
	if err != nil {
		return nil, err
	}
	port := nodes.ports.Ports[0]
	c := &postgresCluster{embedded: nodes, server: ports.Address(port)}
	c.postgresCounters = &postgresCounters{way: way{servers: c.Servers()}}
	owner, err := c.place(dir)
	if err == nil {
		err = owner.initialise(ctx, programs)
	}
	if err != nil {
		_ = c.Close(ctx)
		return nil, fmt.Errorf("preparing PostgreSQL: %w", err)
	}
	c.nodes = []*node{{
		name: "postgres", log: filepath.Join(dir, "postgres.log"), poll: natsReadyPoll,
		command: func() *exec.Cmd {
			sessions := connections(s) + postgresReserve + postgresWorkers*max(1, s.Subscribers.Count)
			command := owner.command(context.Background(), filepath.Join(programs, "postgres"), "-D", owner.data, "-p", strconv.Itoa(port),
				"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", fmt.Sprintf("max_connections=%d", sessions))
			command.SysProcAttr.Pdeathsig = syscall.SIGQUIT
			return command
		},
		ready: func(ctx context.Context) (bool, error) {
			_, err := c.Counters(ctx, "")
			return err == nil, err
		},
	}}
	if err := c.startAll(ctx); err != nil {
		_ = c.Close(ctx)
		return nil, err
	}
	return c, nil
}

// postgresPrograms returns the folder of the newest programs; Debian keeps them out of the PATH.
func postgresPrograms() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	slices.SortFunc(found, func(a, b string) int { return release(a) - release(b) })
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("an embedded PostgreSQL needs its server programs; install the Debian package postgresql, " +
		"or name a server of your own with broker.url")
}

func release(path string) int {
	number, _ := strconv.Atoi(strings.Split(path, "/")[4])
	return number
}

// dataOwner runs programs as the user whose data they are: PostgreSQL refuses to run as root.
type dataOwner struct {
	data       string
	credential *syscall.Credential // nil: this program's user
}

// place chooses the owner, and a folder that only it can read.
func (c *postgresCluster) place(dir string) (dataOwner, error) {
	if os.Geteuid() != 0 {
		return dataOwner{data: filepath.Join(dir, "data")}, nil
	}
	var who *user.User
	var err error
	for _, name := range []string{"postgres", "nobody"} {
		if who, err = user.Lookup(name); err == nil {
			break
		}
	}
	if err != nil {
		return dataOwner{}, fmt.Errorf("it does not run as root, and there is no other user: %w", err)
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	// The run's folder is closed to that user, so the data are beside it, and the next run removes them if this one is killed.
	parents := []string{os.TempDir(), "/tmp", "/var/tmp"}
	open := slices.IndexFunc(parents, openToAll)
	if open < 0 {
		return dataOwner{}, fmt.Errorf("user %s cannot enter %s: set TMPDIR to a folder that all users may enter", who.Username, parents[0])
	}
	if c.folder, err = workdir.New(parents[open]); err != nil {
		return dataOwner{}, err
	}
	o := dataOwner{data: filepath.Join(c.folder.Path, "data"), credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return o, errors.Join(os.Chmod(c.folder.Path, 0o711), os.Mkdir(o.data, 0o700), os.Chown(o.data, uid, gid))
}

// openToAll reports whether every user may enter a folder.
func openToAll(folder string) bool {
	for {
		info, err := os.Stat(folder)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if folder == filepath.Dir(folder) {
			return true
		}
		folder = filepath.Dir(folder)
	}
}

func (o dataOwner) command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = filepath.Dir(o.data)
	command.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential}
	return command
}

// initialise makes the data, with a role and a database for the fleet.
func (o dataOwner) initialise(ctx context.Context, programs string) error {
	made := o.command(ctx, filepath.Join(programs, "initdb"), "--pgdata="+o.data, "--encoding=UTF8", "--locale=C.UTF-8", "--auth=reject",
		"--username=postgres", "--no-sync")
	if said, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w:\n%s", err, said)
	}
	single := o.command(ctx, filepath.Join(programs, "postgres"), "--single", "-D", o.data, "postgres")
	single.Stdin = strings.NewReader(postgresRoles)
	if said, err := single.CombinedOutput(); err != nil {
		return fmt.Errorf("making the database: %w:\n%s", err, said)
	}
	return os.WriteFile(filepath.Join(o.data, "pg_hba.conf"), []byte(postgresAccess), 0o600) // which is there, and keeps its owner
}
