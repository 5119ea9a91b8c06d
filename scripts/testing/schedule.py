"""Runs stages in parallel, with separate slots for CPU-bound stages and for those that mostly wait."""

import os
import queue
import threading

WORKING, WAITING = "working", "waiting"


def places():
    """How many stages of each kind run at once: those that work have a core each."""
    cores = len(os.sched_getaffinity(0))
    return {WORKING: cores, WAITING: cores + 2}


def run_all(stages, run, on_end, limits=None):
    """Calls run(stage) in a thread per stage and on_end(stage, result, running) here, as each ends. Stages start in their order
    as soon as a place of their kind is free and those that they come after have ended."""
    free = dict(limits or places())
    left, running, ended = list(stages), [], set()
    names = {stage.name for stage in stages}
    done = queue.SimpleQueue()

    def work(stage):
        try:
            done.put((stage, run(stage), None))
        except BaseException as failure:  # raised again below, in the thread that everybody watches
            done.put((stage, None, failure))

    def may_start(stage):
        return free[stage.kind] > 0 and all(name in ended for name in stage.after if name in names)

    while left or running:
        for stage in [stage for stage in left if may_start(stage)]:
            if may_start(stage):
                left.remove(stage)
                running.append(stage)
                free[stage.kind] -= 1
                threading.Thread(target=work, args=(stage,), daemon=True).start()
        if not running:
            raise ValueError(f"these stages wait for each other: {', '.join(stage.name for stage in left)}")
        stage, result, failure = done.get()
        running.remove(stage)
        ended.add(stage.name)
        free[stage.kind] += 1
        if failure:
            raise failure
        on_end(stage, result, [other.name for other in running])
