"""A part of a scan that takes its time, for workers that are killed meanwhile."""

import os
import time

from dmfroc.counted.sources import SourcePart


class SlowPart(SourcePart):
    """One batch; who reads it writes down its process."""

    name, identity = "slow", ("slow",)

    def __init__(self, log, batch):
        self.log, self.batch = log, batch

    def batches(self, fields):
        with open(self.log, "a") as stream:
            stream.write(f"{os.getpid()}\n")
        time.sleep(0.05)
        yield self.batch
