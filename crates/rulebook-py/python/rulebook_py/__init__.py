"""The rules of a workspace for your own agent, with the model's answer watched as it streams.

Calls that use the disk release Python's global lock; in asyncio, call them with ``asyncio.to_thread``.
"""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any, AsyncIterable, AsyncIterator, Iterable, Optional, Type, Union, cast

from . import _native
from ._native import RulebookError
from ._types import (
    Delta, Diagnostic, Diagnostics, Explanation, Input, Interrupt, Notice, Open, Prompt, PromptQuestion, Question,
    RuleFile, RuleText, Step, Texts, ToolCall, Turn, WatchEvent,
)

__all__ = [
    "Book", "Delta", "Diagnostic", "Diagnostics", "Explanation", "Input", "Interrupt", "Notice", "Open", "Prompt",
    "PromptQuestion", "Question", "RuleFile", "RuleText", "RulebookError", "Session", "Step", "Texts", "ToolCall", "Turn",
    "WatchEvent",
]


def _request(value: Optional[Any]) -> str:
    return "" if value is None else json.dumps(value)


class Book:
    """The rules of a workspace. Files are read again for each question, so an answer is never stale."""

    def __init__(self, native: _native.Book) -> None:
        """Use `Book.open` or `Book.of_texts`."""
        self._native = native

    @classmethod
    def open(cls, options: Optional[Open] = None) -> Book:
        """Opens a workspace; by default the repository around the current folder."""
        return cls(_native.Book.open(_request(options)))

    @classmethod
    def of_texts(cls, options: Optional[Texts] = None) -> Book:
        """A workspace of texts instead of files. Nothing is read from a disk, and sessions are kept in memory."""
        return cls(_native.Book.of_texts(_request(options)))

    def explain(self, question: Optional[Question] = None) -> Explanation:
        """Which rules each agent has, and why."""
        return cast(Explanation, json.loads(self._native.explain(_request(question))))

    def prompt(self, question: Optional[PromptQuestion] = None) -> Prompt:
        """The text for the model."""
        return cast(Prompt, json.loads(self._native.prompt(_request(question))))

    def read(self, name: str) -> RuleText:
        """One rule's text, by `rule://NAME`, key, id or file."""
        return cast(RuleText, json.loads(self._native.read(name)))

    def file(self, path: str) -> RuleFile:
        """One rule file, by its path as shown in answers."""
        return cast(RuleFile, json.loads(self._native.file(path)))

    def diagnostics(self) -> Diagnostics:
        """Every problem that `rulebook check` reports."""
        return cast(Diagnostics, json.loads(self._native.diagnostics()))

    def session(self, agent: str, id: str) -> Session:
        """Opens or resumes a session. The id is the agent's own name for the conversation."""
        return Session(self._native.session(agent, id))

    def close(self) -> None:
        """Frees the book; its sessions stay open."""
        self._native.close()

    def __enter__(self) -> Book:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class Session:
    """The memory of one conversation."""

    def __init__(self, native: _native.Session) -> None:
        """Use `Book.session`."""
        self._native = native

    def turn(self, input: Optional[Input] = None) -> Turn:
        """Decides one request to the model. The input is what is new since the last turn."""
        return cast(Turn, json.loads(self._native.turn(_request(input))))

    async def watch(self, stream: Union[AsyncIterable[Delta], Iterable[Delta]]) -> AsyncIterator[WatchEvent]:
        """Watches an answer: `async for event in session.watch(stream)`.

        After `retry`, which is the last event, send the request again with its text and watch the new answer. Tool calls are
        events after the whole answer was watched.
        """
        await asyncio.to_thread(self.begin)
        calls: dict[str, WatchEvent] = {}
        deltas = stream if isinstance(stream, AsyncIterable) else _each(stream)
        try:
            async for delta in deltas:
                step = self._feed({"type": "text", "text": delta} if isinstance(delta, str) else delta, calls)
                for event in _events(step):
                    yield event
                if step["retry"]:
                    return
        finally:
            close = getattr(deltas, "aclose", None)
            if close is not None:
                await close()
        step = self.end()
        for event in _events(step):
            yield event
        if not step["retry"]:
            for call in calls.values():
                yield call

    def _feed(self, delta: Any, calls: dict[str, WatchEvent]) -> Step:
        kind = delta.get("type") if isinstance(delta, dict) else None
        if kind == "text":
            return self.text(delta["text"])
        if kind == "thinking":
            return self.thinking(delta["text"])
        if kind == "tool":
            id, text = delta["id"], delta["delta"]
            call: Any = calls.setdefault(id, {"type": "tool", "id": id, "name": delta["name"], "input": ""})
            call["input"] += text
            return self.tool(id, call["name"], text)
        error = RulebookError(f"a delta is `text`, `thinking` or `tool`, found `{kind}`")
        error.code = "BAD_REQUEST"
        raise error

    def begin(self) -> None:
        """The request is being made. `watch` calls this; call it before the first of `text`, `thinking`, `tool`, `end`."""
        self._native.begin()

    def text(self, delta: str) -> Step:
        """More text of the model's answer."""
        return cast(Step, json.loads(self._native.text(delta)))

    def thinking(self, delta: str) -> Step:
        """More of the model's thinking."""
        return cast(Step, json.loads(self._native.thinking(delta)))

    def tool(self, id: str, name: str, delta: str) -> Step:
        """More arguments of a tool call, as JSON text."""
        return cast(Step, json.loads(self._native.tool(id, name, delta)))

    def end(self) -> Step:
        """The answer ended. Tool calls may run if this asks for no retry."""
        return cast(Step, json.loads(self._native.end()))

    def sent(self) -> None:
        """The request was sent: its rules count as delivered, and the turn is closed."""
        self._native.sent()

    def compacted(self) -> None:
        """The context was compacted or cleared: everything is due again."""
        self._native.compacted()

    @property
    def lost(self) -> Optional[str]:
        """Why the session is no longer kept on disk; it continues in memory."""
        return self._native.lost()

    def close(self) -> None:
        """Ends an open turn and frees the session."""
        self._native.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


async def _each(deltas: Iterable[Delta]) -> AsyncIterator[Delta]:
    for delta in deltas:
        yield delta


def _events(step: Step) -> Iterable[WatchEvent]:
    """The parts of a step, in the order to show them."""
    if step["thinking"]:
        yield {"type": "thinking", "text": step["thinking"]}
    if step["show"]:
        yield {"type": "text", "text": step["show"]}
    if step["notice"]:
        yield {"type": "notice", "text": step["notice"]}
    if step["retry"]:
        retry = step["retry"]
        yield {"type": "retry", "text": retry["text"], "rules": retry["rules"], "output": retry["output"]}
