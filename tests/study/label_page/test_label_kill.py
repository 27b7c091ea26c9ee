"""Killed without warning, again and again, in the middle of work: whatever was confirmed is there."""

from __future__ import annotations

import http.client
import json
import random
import threading

from sleuth.study.label.store import read_labels

KILLS = 4


class Rater:
    """Chooses as fast as answers come, and remembers what was confirmed and what was under way."""

    def __init__(self, keys, names):
        self.keys, self.names = keys, names
        self.confirmed = {}
        self.under_way = None
        self.confirmations = 0

    def work(self, port, token, session, seed):
        chance = random.Random(seed)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"X-Sleuth-Token": token, "Content-Type": "application/json"}
        while True:
            said = {"session": session, "key": chance.choice(self.keys), "labels": [chance.choice(self.names)]}
            self.under_way = (said["key"], said["labels"][0])
            try:
                connection.request("POST", "/label", json.dumps(said), headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                return
            assert answer.status == 200
            self.confirmed[said["key"]] = said["labels"][0]
            self.confirmations += 1
            self.under_way = None


def test_nothing_that_was_confirmed_is_lost_however_often_it_is_killed(command, begin, sample):
    session = begin("ann")
    rater = Rater([shown.key for shown in session.posts], [label.name for label in session.codebook.labels])
    for kill in range(KILLS):
        server = command("--codebook", "kinds", "--rater", "ann")
        address, _, token = server.url.partition("/?token=")
        before = rater.confirmations
        working = threading.Thread(
            target=rater.work, args=(int(address.rpartition(":")[2]), token, session.id, kill), daemon=True
        )
        working.start()
        while rater.confirmations < before + 5 + 13 * kill and working.is_alive():
            working.join(0.001)
        server.process.kill()
        working.join()
        server.process.wait()
        standing = {label.key: label.label for label in read_labels(sample.with_name("labels.jsonl"))}
        # What was under way may have been written or not; the rater was not told that it was.
        for key, name in rater.confirmed.items():
            assert standing[key] == name or (key, standing[key]) == rater.under_way
        assert set(standing) <= set(rater.confirmed) | ({rater.under_way[0]} if rater.under_way else set())
        rater.confirmed = standing
        assert begin("ann").tally().labelled == len(standing)
    assert rater.confirmations > 50
