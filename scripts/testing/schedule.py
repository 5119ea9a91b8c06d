"""Runs stages in parallel, as many as the machine has processors for. Stages that work and those that mostly wait for others have
places apart; a stage that needs the machine for itself runs alone, after the others."""

import os
import queue
import threading
import time

from . import pressure

WORKING, WAITING = "working", "waiting"
SETTLING_S = 5  # until the pressure shows a stage that has just started


def places():
    """How many stages of each kind run at once at most: those that work have a core each."""
    cores = len(os.sched_getaffinity(0))
    return {WORKING: cores, WAITING: cores + 2}


def always():
    """How many stages run at once whatever else the machine has to do: beside a heavy load one alone would hardly advance."""
    return len(os.sched_getaffinity(0)) + 1


def run_all(stages, run, on_end, limits=None, has_room=pressure.is_low):
    """Calls run(stage) in a thread per stage and on_end(stage, result, running) here, as each ends. Stages start in their order
    as soon as a place of their kind is free, those that they come after have ended, and the machine has room."""
    free = dict(limits or places())
    least = always()
    left, running, ended = list(stages), [], set()
    names = {stage.name for stage in stages}
    done = queue.SimpleQueue()
    started = float("-inf")

    def work(stage):
        try:
            done.put((stage, run(stage), None))
        except BaseException as failure:  # raised again below, in the thread that everybody watches
            done.put((stage, None, failure))

    def may_start(stage):
        if stage.alone:
            return not running and not any(not other.alone for other in left)
        return free[stage.kind] > 0 and all(name in ended for name in stage.after if name in names)

    def machine_has_room():
        return len(running) < least or (time.monotonic() - started >= SETTLING_S and has_room())

    while left or running:
        while stage := next((stage for stage in left if may_start(stage) and machine_has_room()), None):
            left.remove(stage)
            running.append(stage)
            free[stage.kind] -= 1
            started = time.monotonic()
            threading.Thread(target=work, args=(stage,), daemon=True).start()
        if not running:
            raise ValueError(f"these stages wait for each other: {', '.join(stage.name for stage in left)}")
        try:
            stage, result, failure = done.get(timeout=1)
        except queue.Empty:
            continue
        running.remove(stage)
        ended.add(stage.name)
        free[stage.kind] += 1
        if failure:
            raise failure
        on_end(stage, result, [other.name for other in running])
