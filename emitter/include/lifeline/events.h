/* Generated from schemas/catalogue/catalogue.json by schemas/catalogue/generate.py: edit there.
 *
 * The standard events. A program that emits these gets the pairing of starts with ends, the stage report and
 * the views of the archive without telling anybody what its events mean. */
#ifndef LIFELINE_EVENTS_H
#define LIFELINE_EVENTS_H

#include <lifeline/lifeline.h>

/* Fields become parameters of functions, and may be named as something of the program's. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

/* clang-format off */

/* Disk I/O */

/* before the first call that reads the block */
LL_EVENT(disk_read_start, "disk.read.start", LL_INFO,
         (u64, id, ""),
         (u64, offset, "B"));

/* after the last call that reads the block */
LL_EVENT(disk_read_end, "disk.read.end", LL_INFO,
         (u64, id, ""),
         (u64, nbytes, "B"));

/* before the first call that writes the block */
LL_EVENT(disk_write_start, "disk.write.start", LL_INFO,
         (u64, id, ""),
         (u64, offset, "B"));

/* after the last call that writes the block */
LL_EVENT(disk_write_end, "disk.write.end", LL_INFO,
         (u64, id, ""),
         (u64, nbytes, "B"));

/* Network I/O */

/* before the first call that sends the block */
LL_EVENT(net_send_start, "net.send.start", LL_INFO,
         (u64, id, ""));

/* after the last call that sends the block */
LL_EVENT(net_send_end, "net.send.end", LL_INFO,
         (u64, id, ""),
         (u64, nbytes, "B"));

/* before the first call that receives the block */
LL_EVENT(net_receive_start, "net.receive.start", LL_INFO,
         (u64, id, ""));

/* after the last call that receives the block */
LL_EVENT(net_receive_end, "net.receive.end", LL_INFO,
         (u64, id, ""),
         (u64, nbytes, "B"));

/* a look at the connection while the block was under way: tells a slow network from a slow peer */
LL_EVENT(net_socket, "net.socket", LL_INFO,
         (u64, id, ""),
         (u32, unsent, "B"),
         (u32, unread, "B"),
         (u32, rtt, "us"),
         (u32, retransmits, ""));

/* I/O of unmodified programs */

/* what a process under `lifeline run --emitters all` did with one file or peer in an interval, by one kind of operation */
LL_EVENT(io_target, "io.target", LL_INFO,
         (u32, target, ""),
         (string, operation, ""),
         (string, name, ""),
         (u64, interval, "ns"),
         (u64, count, ""),
         (u64, nbytes, "B"),
         (u64, duration, "ns"),
         (u64, longest, "ns"),
         (u64, again, ""),
         (u64, errors, ""),
         (u32, open, ""));

/* what all processes of one program in a run did with one file or peer, by one kind of operation; from the agent of `lifeline run`, once per interval. Processes that were killed are included */
LL_EVENT(io_run, "io.run", LL_INFO,
         (string, process, ""),
         (string, operation, ""),
         (string, name, ""),
         (u64, interval, "ns"),
         (u64, count, ""),
         (u64, nbytes, "B"),
         (u64, duration, "ns"),
         (u64, longest, "ns"),
         (u64, again, ""),
         (u64, errors, ""),
         (u32, open, ""));

/* what one operation was for; only of operations whose caliper is at resolution `full` */
LL_EVENT(io_operation, "io.operation", LL_INFO,
         (u64, id, ""),
         (i32, descriptor, ""),
         (u32, target, ""),
         (i64, result, ""));

/* forked children that ended, or became other programs, before they were measured as emitters of their own; once per interval if there were any */
LL_EVENT(io_unseen, "io.unseen", LL_INFO,
         (u64, children, ""),
         (u64, operations, ""),
         (u64, nbytes, "B"));

/* name of a target, once per interval before its first `io.operation` */
LL_EVENT(io_name, "io.name", LL_INFO,
         (u32, target, ""),
         (string, kind, ""),
         (string, name, ""));

/* Transfers */

/* the transfer begins */
LL_EVENT(transfer_start, "transfer.start", LL_INFO,
         (u64, id, ""),
         (string, source, ""),
         (string, destination, ""),
         (u64, nbytes, "B"));

/* the transfer has ended */
LL_EVENT(transfer_end, "transfer.end", LL_INFO,
         (u64, id, ""),
         (u64, nbytes, "B"),
         (bool, ok, ""));

/* Sessions */

/* a session has begun; the first event that belongs to it */
LL_EVENT(session_start, "session.start", LL_INFO,
         (bytes, id, ""),
         (bytes, parent, ""),
         (string, name, ""),
         (string, traceparent, ""));

/* a session has ended; the last event that belongs to it */
LL_EVENT(session_end, "session.end", LL_INFO,
         (bytes, id, ""),
         (bool, ok, ""));

/* Hosts */

/* time by kind, from /proc/stat */
LL_EVENT(host_cpu, "host.cpu", LL_INFO,
         (i32, cpu, ""),
         (u64, user, "ms"),
         (u64, system, "ms"),
         (u64, idle, "ms"),
         (u64, iowait, "ms"),
         (u64, steal, "ms"));

/* memory now, from /proc/meminfo */
LL_EVENT(host_memory, "host.memory", LL_INFO,
         (u64, total, "B"),
         (u64, available, "B"),
         (u64, cached, "B"),
         (u64, dirty, "B"),
         (u64, swap_total, "B"),
         (u64, swap_free, "B"));

/* one block device, from /proc/diskstats */
LL_EVENT(host_disk, "host.disk", LL_INFO,
         (string, device, ""),
         (u64, reads, ""),
         (u64, read_bytes, "B"),
         (u64, read_time, "ms"),
         (u64, writes, ""),
         (u64, write_bytes, "B"),
         (u64, write_time, "ms"),
         (u64, busy_time, "ms"),
         (u32, in_flight, ""));

/* one interface, from /proc/net/dev */
LL_EVENT(host_network, "host.network", LL_INFO,
         (string, interface, ""),
         (u64, receive_bytes, "B"),
         (u64, receive_packets, ""),
         (u64, receive_errors, ""),
         (u64, receive_drops, ""),
         (u64, send_bytes, "B"),
         (u64, send_packets, ""),
         (u64, send_errors, ""),
         (u64, send_drops, ""));

/* processes that run or wait, from /proc/loadavg */
LL_EVENT(host_load, "host.load", LL_INFO,
         (f64, one, ""),
         (f64, five, ""),
         (f64, fifteen, ""),
         (u32, running, ""),
         (u32, threads, ""));

/* time lost for want of a resource (pressure stall information), from /proc/pressure */
LL_EVENT(host_pressure, "host.pressure", LL_INFO,
         (string, resource, ""),
         (u64, some, "us"),
         (u64, full, "us"));

/* what the kernel knows of its clock, from adjtimex; and steps of the clock */
LL_EVENT(host_clock, "host.clock", LL_INFO,
         (bool, synchronised, ""),
         (i64, offset, "ns"),
         (u64, error_max, "ns"),
         (u64, error_estimate, "ns"),
         (f64, frequency, "ppm"),
         (i64, step, "ns"));

/* the offset of this host's clock from the broker's, of the shortest of a few round trips */
LL_EVENT(host_clock_broker, "host.clock.broker", LL_INFO,
         (i64, offset, "ns"),
         (u64, error, "ns"),
         (u64, round_trip, "ns"));

/* one process, from /proc/PID/stat, status and schedstat */
LL_EVENT(host_process, "host.process", LL_INFO,
         (u32, process, ""),
         (bytes, session, ""),
         (string, name, ""),
         (u32, parent, ""),
         (u64, user, "ms"),
         (u64, system, "ms"),
         (u64, wait, "ns"),
         (u64, rss, "B"),
         (u32, threads, ""),
         (u64, switches, ""),
         (u64, preemptions, ""),
         (u64, minor_faults, ""),
         (u64, major_faults, ""));

/* input and output of one process, from /proc/PID/io; absent without the right to read it */
LL_EVENT(host_process_io, "host.process.io", LL_INFO,
         (u32, process, ""),
         (bytes, session, ""),
         (u64, read, "B"),
         (u64, written, "B"),
         (u64, reads, ""),
         (u64, writes, ""),
         (u64, disk_read, "B"),
         (u64, disk_written, "B"));

/* processor time of one control group with its descendants */
LL_EVENT(host_cgroup_cpu, "host.cgroup.cpu", LL_INFO,
         (string, cgroup, ""),
         (u64, user, "us"),
         (u64, system, "us"),
         (u64, throttled, "us"));

/* memory of one control group with its descendants */
LL_EVENT(host_cgroup_memory, "host.cgroup.memory", LL_INFO,
         (string, cgroup, ""),
         (u64, used, "B"),
         (u64, anonymous, "B"),
         (u64, cached, "B"),
         (u64, failures, ""));

/* disk I/O of one control group with its descendants, all devices together */
LL_EVENT(host_cgroup_io, "host.cgroup.io", LL_INFO,
         (string, cgroup, ""),
         (u64, reads, ""),
         (u64, read_bytes, "B"),
         (u64, writes, ""),
         (u64, write_bytes, "B"));

/* Connections */

/* one connection: a sample of TCP_INFO */
LL_EVENT(tcp_info, "tcp.info", LL_INFO,
         (u64, id, ""),
         (bytes, session, ""),
         (u32, process, ""),
         (u64, inode, ""),
         (string, local, ""),
         (string, remote, ""),
         (string, state, ""),
         (string, congestion, ""),
         (u32, window, ""),
         (u32, threshold, ""),
         (u32, segment, "B"),
         (u32, rtt, "us"),
         (u32, rtt_variance, "us"),
         (u32, rtt_min, "us"),
         (u32, timeout, "us"),
         (u32, retransmits, ""),
         (u32, lost, ""),
         (u32, unacked, ""),
         (u32, unsent, "B"),
         (u32, queued, "B"),
         (u32, unread, "B"),
         (u32, peer_window, "B"),
         (u64, pacing_rate, "B/s"),
         (u64, delivery_rate, "B/s"),
         (bool, delivery_limited, ""),
         (u64, sent, "B"),
         (u64, acked, "B"),
         (u64, received, "B"),
         (u64, resent, "B"),
         (u64, busy, "us"),
         (u64, peer_limited, "us"),
         (u64, buffer_limited, "us"));

/* the throughput of a connection has halved while it had data to send, or its retransmissions have risen; it is sampled faster for a while */
LL_EVENT(tcp_anomaly, "tcp.anomaly", LL_WARN,
         (u64, id, ""),
         (bytes, session, ""),
         (u32, process, ""),
         (string, kind, ""),
         (f64, before, "1/s"),
         (f64, now, "1/s"));

/* The probe itself */

/* counters of one kind of sample since the probe's start */
LL_EVENT(probe_samples, "probe.samples", LL_INFO,
         (string, sample, ""),
         (u64, samples, ""),
         (u64, skipped, ""),
         (u64, failures, ""),
         (u64, busy, "us"));

/* what the probe knows of connections since its start */
LL_EVENT(probe_connections, "probe.connections", LL_INFO,
         (u64, known, ""),
         (u64, opened, ""),
         (u64, closed, ""),
         (u64, last_looks, ""),
         (u64, unowned, ""),
         (u64, overflows, ""));

/* Generators */

/* one message has come back to the generator that published it */
LL_EVENT(generator_measurement, "generator.measurement", LL_INFO,
         (u32, generator, ""),
         (u64, sequence, ""),
         (i64, rtt, "ns"),
         (i64, prt, "ns"),
         (i64, pt, "ns"),
         (i64, srt, "ns"),
         (u32, nbytes, "B"));

/* the message of a generator of the fleet: the fields of the study's, without its round trip */
LL_EVENT(generator_reading, "generator.reading", LL_INFO,
         (i32, generator, ""),
         (i32, sequence, ""),
         (i64, intended, "ns"),
         (i64, run, ""),
         (f32, power, "kW"),
         (f32, voltage, "V"),
         (f32, current, "A"),
         (f32, frequency, "Hz"),
         (f32, temperature, "Cel"),
         (f64, energy, "kWh"),
         (f64, longitude, "deg"),
         (f64, latitude, "deg"),
         (string, site, ""),
         (string, model, ""),
         (string, owner, ""),
         (string, state, ""));

/* Kernel */

/* how long threads of one process were ready to run and waited for a CPU, in an interval */
LL_EVENT(kernel_runqueue, "kernel.runqueue", LL_INFO,
         (u32, process, ""),
         (bytes, session, ""),
         (string, name, ""),
         (string, source, ""),
         (string, after, ""),
         (u64, interval, "ns"),
         (u64, count, ""),
         (u64, sum, "ns"),
         (u64, min, "ns"),
         (u64, max, "ns"),
         (string, histogram, ""));

/* how long threads of one process were blocked, until something woke them, by what they waited for */
LL_EVENT(kernel_offcpu, "kernel.offcpu", LL_INFO,
         (u32, process, ""),
         (bytes, session, ""),
         (string, name, ""),
         (string, source, ""),
         (string, reason, ""),
         (u64, interval, "ns"),
         (u64, count, ""),
         (u64, sum, "ns"),
         (u64, min, "ns"),
         (u64, max, "ns"),
         (string, histogram, ""));

/* requests to one disk that one process made itself, in an interval */
LL_EVENT(kernel_block, "kernel.block", LL_INFO,
         (u32, process, ""),
         (bytes, session, ""),
         (string, name, ""),
         (string, source, ""),
         (string, operation, ""),
         (string, device, ""),
         (u64, interval, "ns"),
         (u64, count, ""),
         (u64, nbytes, "B"),
         (u64, errors, ""),
         (u64, sum, "ns"),
         (u64, min, "ns"),
         (u64, max, "ns"),
         (string, histogram, ""));

/* how long received data lay in the sockets of one process until it read it */
LL_EVENT(kernel_receive, "kernel.receive", LL_INFO,
         (u32, process, ""),
         (bytes, session, ""),
         (string, name, ""),
         (string, source, ""),
         (u64, interval, "ns"),
         (u64, count, ""),
         (u64, nbytes, "B"),
         (u64, sum, "ns"),
         (u64, min, "ns"),
         (u64, max, "ns"),
         (string, histogram, ""));

/* segments that TCP sent again on sockets of one process */
LL_EVENT(kernel_retransmit, "kernel.retransmit", LL_INFO,
         (u32, process, ""),
         (bytes, session, ""),
         (string, name, ""),
         (string, source, ""),
         (u64, interval, "ns"),
         (u64, count, ""));

/* system calls of one process by what they do, in an interval; also reported as `lifeline.summary` of that name */
LL_EVENT(kernel_syscall, "kernel.syscall", LL_INFO,
         (u32, process, ""),
         (bytes, session, ""),
         (string, name, ""),
         (string, source, ""),
         (string, operation, ""),
         (u64, interval, "ns"),
         (u64, count, ""),
         (u64, nbytes, "B"),
         (u64, errors, ""),
         (u64, sum, "ns"),
         (u64, min, "ns"),
         (u64, max, "ns"),
         (string, histogram, ""));

/* a thread begins to run */
LL_EVENT(kernel_switch, "kernel.switch", LL_INFO,
         (u64, at, "ns"),
         (u32, process, ""),
         (bytes, session, ""),
         (u32, thread, ""),
         (u32, cpu, ""),
         (string, after, ""),
         (string, reason, ""),
         (u64, blocked, "ns"),
         (u64, ready, "ns"));

/* a request to a disk is complete */
LL_EVENT(kernel_request, "kernel.request", LL_INFO,
         (u64, at, "ns"),
         (u32, process, ""),
         (bytes, session, ""),
         (u32, thread, ""),
         (string, operation, ""),
         (string, device, ""),
         (u64, nbytes, "B"),
         (u64, duration, "ns"),
         (bool, failed, ""));

/* a system call returns */
LL_EVENT(kernel_call, "kernel.call", LL_INFO,
         (u64, at, "ns"),
         (u32, process, ""),
         (bytes, session, ""),
         (u32, thread, ""),
         (u32, number, ""),
         (string, operation, ""),
         (i32, descriptor, ""),
         (u64, duration, "ns"),
         (i64, result, ""));

/* TCP sends a segment again */
LL_EVENT(kernel_segment, "kernel.segment", LL_INFO,
         (u64, at, "ns"),
         (u32, process, ""),
         (bytes, session, ""),
         (string, local, ""),
         (string, peer, ""));

/* what could not be measured, since the measurements began; emitted when one has changed */
LL_EVENT(kernel_lost, "kernel.lost", LL_INFO,
         (string, source, ""),
         (u64, singles, ""),
         (u64, values, ""),
         (u64, threads, ""),
         (u64, processes, ""),
         (u64, requests, ""));

/* The emitter itself */

/* what the values of one field were in an interval, over all threads */
LL_EVENT(lifeline_summary, "lifeline.summary", LL_INFO,
         (string, type, ""),
         (string, field, ""),
         (string, unit, ""),
         (u64, interval, "ns"),
         (u64, count, ""),
         (f64, min, ""),
         (f64, max, ""),
         (f64, sum, ""),
         (f64, mean, ""),
         (f64, variance, ""),
         (u64, not_finite, ""),
         (u32, threads, ""));

/* an operation that a caliper has begun to measure is still under way at the end of an interval */
LL_EVENT(lifeline_open, "lifeline.open", LL_INFO,
         (u64, id, ""),
         (string, type, ""),
         (u64, thread, ""),
         (u64, age, "ns"));

/* an activation of the control topic is in force here */
LL_EVENT(lifeline_activation_start, "lifeline.activation.start", LL_INFO,
         (string, id, ""),
         (string, line, ""));

/* an activation of the control topic is no longer in force here */
LL_EVENT(lifeline_activation_end, "lifeline.activation.end", LL_INFO,
         (string, id, ""),
         (string, reason, ""));

/* an activation of the control topic is invalid here */
LL_EVENT(lifeline_activation_refused, "lifeline.activation.refused", LL_WARN,
         (string, id, ""),
         (string, line, ""),
         (string, reason, ""));

/* clang-format on */

#pragma GCC diagnostic pop

#endif
