"""The module for Python: the table of cases, streams, errors and memory. Started by scripts/bindings."""

import asyncio
import gc
import json
import os
import tempfile
import threading
import unittest
from pathlib import Path

from rulebook_py import Book, RulebookError

HERE = Path(__file__).resolve().parent
TEXTS = [
    {"path": ".clinerules/web.md", "text": "---\npaths: ['web/**']\n---\nUse React."},
    {"path": ".rulebook/rules/no-any.md", "text": "---\ncondition: ': any\\b'\n---\nNo any."},
]


def cases():
    answers = {one["name"]: one["answers"] for one in json.loads((HERE / "answers.json").read_text())}
    for one in json.loads((HERE / "cases.json").read_text())["cases"]:
        yield {**one, "answers": answers[one["name"]]}
    yield from json.loads(Path(os.environ["RULEBOOK_PAGES"]).read_text())["cases"]


def in_memory():
    return Book.of_texts({"texts": TEXTS, "files": ["web/a.tsx"]})


def run(book, steps):
    """The answers of the steps of a case."""
    session, found = None, []
    with book:
        for step in steps:
            call, words = step["call"], step["with"]
            target, method = (session, call[8:]) if call.startswith("session.") else (book, call)
            try:
                answer = getattr(target, method)(*words)
                if call == "session":
                    session, answer = answer, None
                found.append(answer)
            except RulebookError as error:
                found.append({"error": error.code})
    if session:
        session.close()
    return found


def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def collect(events):
    return [event async for event in events]


class Binding(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.top = Path(self.folder.name)
        os.environ["HOME"] = str(self.top / "home")
        os.environ["XDG_STATE_HOME"] = str(self.top / "state")

    def on_disk(self, name, one, **options):
        root = self.top / name
        root.mkdir()
        for file in [*one["texts"], *({"path": path, "text": ""} for path in one["files"])]:
            path = root / file["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file["text"].encode())
        return Book.open({"roots": [str(root)], "settings": one["settings"], **options})

    def test_cases_have_the_answers_of_rust_on_disk_and_in_memory(self):
        self.maxDiff = None
        count = 0
        for count, one in enumerate(cases()):
            with self.subTest(one["name"]):
                self.assertEqual(run(self.on_disk(f"case{count}", one, home=False), one["steps"]), one["answers"])
                texts = {key: one[key] for key in ("texts", "files", "settings")}
                self.assertEqual(run(Book.of_texts(texts), one["steps"]), one["answers"])
        self.assertGreater(count, 80)

    def test_a_watched_stream_shows_what_is_safe_stops_and_is_closed(self):
        closed = []

        async def stream():
            try:
                yield {"type": "thinking", "text": "hm"}
                yield "let a"
                yield {"type": "text", "text": ": any = 1"}
                raise AssertionError("the stream is read after the retry")
            finally:
                closed.append(True)

        async def main():
            with in_memory() as book, book.session("my-agent", "one") as session:
                await asyncio.to_thread(session.turn, {"message": "fix web/a.tsx"})
                first = await collect(session.watch(stream()))
                self.assertEqual([event["type"] for event in first], ["thinking", "text", "retry"])
                self.assertEqual(first[2]["rules"], ["no-any"])
                self.assertEqual(closed, [True])
                tool = lambda delta: {"type": "tool", "id": "1", "name": "write", "delta": delta}
                second = await collect(session.watch(["let a: A", tool('{"path": "web/'), tool('a.tsx"}')]))
                self.assertEqual("".join(event["text"] for event in second if event["type"] == "text"), "let a: A")
                self.assertEqual(second[-1], {"type": "tool", "id": "1", "name": "write", "input": '{"path": "web/a.tsx"}'})
                session.sent()
                self.assertEqual(session.turn({"message": "web/a.tsx"})["added"], "")

        asyncio.run(main())

    def test_errors_are_exceptions_with_a_code(self):
        def code(call, *words):
            with self.assertRaises(RulebookError) as raised:
                call(*words)
            return raised.exception.code

        book = in_memory()
        self.assertEqual(code(book.read, "nosuch"), "UNKNOWN_RULE")
        self.assertEqual(code(book.explain, {"nosuch": 1}), "BAD_REQUEST")
        self.assertEqual(code(Book.open, {"roots": ["/nosuch/folder"]}), "CANNOT_OPEN")
        session = book.session("my-agent", "two")
        self.assertEqual(code(session.text, "early"), "NO_TURN")
        session.turn()
        for delta in ({"type": "image"}, {}, None, 3):
            self.assertEqual(code(lambda: asyncio.run(collect(session.watch([delta])))), "BAD_REQUEST")
        session.close()
        self.assertEqual(code(session.text, "late"), "CLOSED")
        book.close()
        self.assertEqual(code(book.prompt), "CLOSED")

    def test_other_threads_run_during_calls_that_use_the_disk(self):
        one = {"texts": TEXTS, "files": [], "settings": {}}
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(1)
                done.wait(0.0005)

        with self.on_disk("threads", one, home=False) as book:
            thread = threading.Thread(target=tick)
            thread.start()
            for _ in range(50):
                book.prompt({"input": {"message": "fix web/a.tsx"}})
            done.set()
            thread.join()
        self.assertGreater(len(ticks), 2)

    def test_a_session_on_disk_is_resumed(self):
        one = {"texts": [{"path": ".clinerules/a.md", "text": "Two spaces."}], "files": [], "settings": {}}
        with self.on_disk("kept", one) as book:
            for is_new in (True, False):
                with book.session("my-agent", "kept") as session:
                    self.assertEqual(session.turn({"message": "hello"})["added"] != "", is_new)
                    self.assertIsNone(session.lost)
                    session.sent()

    @unittest.skipUnless(Path("/proc/self/statm").exists(), "memory is read from /proc")
    def test_books_and_sessions_give_their_memory_back(self):
        def use(times):
            for at in range(times):
                book = in_memory()
                session = book.session("my-agent", f"leak{at}")
                session.turn({"message": "fix web/a.tsx"})
                for _ in range(50):
                    session.text("some text of the answer ")
                # Every second one is left to the reference count.
                if at % 2:
                    session.close()
                    book.close()
            return resident()

        use(300)
        before, later = use(300), use(600)
        self.assertLess((later - before) / 600, 10_000, "bytes that stay for each book and session")


if __name__ == "__main__":
    unittest.main()
