"""The times of the library for Python: `bindings.py ROOT QUESTIONS DELTAS`. Started by bench/bindings."""

import json
import statistics
import sys
import time

from rulebook_py import Book


def timed(times, call):
    """The median time of a call in microseconds, after a tenth of the calls as warm-up."""
    for _ in range(times // 10):
        call()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append((time.perf_counter() - start) * 1e6)
    return statistics.median(found)


root, questions, deltas = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
request = {"input": {"message": "fix src/part7/a.ts"}}
with Book.open({"roots": [root], "home": False}) as book:
    prompt = timed(questions, lambda: book.prompt(request))
    explain = timed(questions, lambda: book.explain(request))
    with book.session("bench", "one") as session:
        session.turn(request["input"])
        session.begin()
        delta = timed(deltas // 100, lambda: [session.text("some text of the answer ") for _ in range(100)]) / 100
print(json.dumps({"prompt": prompt, "explain": explain, "delta": delta}))
