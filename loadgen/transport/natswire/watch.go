package natswire

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// watch waits for all publishers of a transport at once, in one goroutine: servers say little to who only publishes (PING
// every two minutes, and the end), so that a goroutine with a buffer for each connection would wait for nothing.
type watch struct {
	mutex   sync.Mutex
	file    *os.File // an epoll instance, nil while nothing is watched
	epoll   int      // its descriptor; File.Fd would take it from the runtime's poller
	watched map[int32]*publisher
}

// add registers p for input on its socket.
func (w *watch) add(descriptor int, p *publisher) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.file == nil {
		if err := w.start(); err != nil {
			return err
		}
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(descriptor)}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, descriptor, &event); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	w.watched[int32(descriptor)] = p
	return nil
}

// expect changes what is waited for.
func (w *watch) expect(descriptor int, events uint32) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	event := unix.EpollEvent{Events: events, Fd: int32(descriptor)}
	_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_MOD, descriptor, &event)
}

// remove is called before the descriptor is closed.
func (w *watch) remove(descriptor int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, descriptor, nil)
	delete(w.watched, int32(descriptor))
	if len(w.watched) == 0 {
		w.file.Close()
		w.file = nil
	}
}

// start makes an epoll instance that the runtime's own poller waits on, so that no thread is held.
func (w *watch) start() error {
	descriptor, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(descriptor, true); err != nil {
		unix.Close(descriptor)
		return os.NewSyscallError("fcntl", err)
	}
	w.epoll = descriptor
	w.file = os.NewFile(uintptr(descriptor), "epoll")
	w.watched = make(map[int32]*publisher)
	raw, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	go w.run(raw)
	return nil
}

func (w *watch) run(raw syscall.RawConn) {
	events := make([]unix.EpollEvent, 128)
	buffer := make([]byte, 4096)
	for {
		n := 0
		err := raw.Read(func(descriptor uintptr) bool {
			n, _ = unix.EpollWait(int(descriptor), events, 0)
			return n > 0
		})
		if err != nil {
			return // nothing is watched any more
		}
		for _, event := range events[:n] {
			w.mutex.Lock()
			p := w.watched[event.Fd]
			w.mutex.Unlock()
			if p != nil {
				p.ready(int(event.Fd), event.Events, buffer)
			}
		}
	}
}
