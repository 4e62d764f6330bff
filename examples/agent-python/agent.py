"""A small agent: the rules of a workspace in the prompt, a notice, a tool that reads rules, and an answer that is stopped and retried.

Usage: agent.py URL ROOT MESSAGE, with the URL of a server that speaks OpenAI's Chat Completions.
"""

import asyncio
import json
import sys
import urllib.request
import uuid
from pathlib import Path
from typing import Any, AsyncIterator

from rulebook_py import Book, Delta, Input, RulebookError, ToolCall

URL, ROOT, MESSAGE = sys.argv[1:4]
TAKES = {"read_rule": ["name"], "read_file": ["path"], "write_file": ["path", "content"]}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {
    "type": "object", "properties": {key: {"type": "string"} for key in keys}}}} for name, keys in TAKES.items()]


def run(book: Book, name: str, words: dict[str, str]) -> str:
    try:
        if name == "read_rule":
            return book.read(words["name"])["text"]
        if name == "read_file":
            return (Path(ROOT) / words["path"]).read_text()
        return f"{(Path(ROOT) / words['path']).write_text(words['content'])} characters written"
    except (RulebookError, OSError, KeyError) as error:
        return f"{type(error).__name__}: {error}"


async def ask(messages: list[Any]) -> AsyncIterator[Delta]:
    """The parts of the model's answer, as they arrive. Closing the iterator ends the request."""
    body = json.dumps({"model": "model", "stream": True, "messages": messages, "tools": TOOLS}).encode()
    request = urllib.request.Request(f"{URL}/v1/chat/completions", body, {"content-type": "application/json"})
    calls: dict[int, tuple[str, str]] = {}
    with await asyncio.to_thread(urllib.request.urlopen, request) as response:
        while line := await asyncio.to_thread(response.readline):
            for choice in json.loads(line[6:])["choices"] if line.startswith(b"data: {") else []:
                delta = choice["delta"]
                yield {"type": "thinking", "text": delta.get("reasoning_content") or ""}
                yield delta.get("content") or ""
                for call in delta.get("tool_calls", []):
                    id, name = calls.setdefault(call["index"], (call.get("id", ""), call["function"].get("name", "")))
                    yield {"type": "tool", "id": id, "name": name, "delta": call["function"]["arguments"]}


async def main() -> None:
    talk: list[Any] = [{"role": "user", "content": MESSAGE}]
    new: Input = {"message": MESSAGE}
    with Book.open({"roots": [ROOT]}) as book, book.session("example-agent", str(uuid.uuid4())) as session:
        while new:
            turn = await asyncio.to_thread(session.turn, new)
            if turn["notice"]:
                print(f"[rules: {', '.join(rule['name'] for rule in turn['notice']['rules'])}]")
            calls: list[Any] = []
            said, retry = "", True
            while retry:
                retry = False
                async for event in session.watch(ask([{"role": "system", "content": turn["system"]}, *talk])):
                    if event["type"] == "text":
                        said += event["text"]
                        print(event["text"], end="", flush=True)
                    elif event["type"] == "tool":
                        calls.append({"id": event["id"], "type": "function", "function": {"name": event["name"], "arguments": event["input"]}})
                    elif event["type"] == "retry":
                        print(f"\n[stopped: {', '.join(event['rules'])}]")
                        talk += [{"role": "assistant", "content": event["output"]}] if event["output"] else []
                        talk.append({"role": "user", "content": event["text"]})
                        said, retry = "", True
            await asyncio.to_thread(session.sent)
            made: list[ToolCall] = [{"name": call["function"]["name"], "input": json.loads(call["function"]["arguments"])} for call in calls]
            talk.append({"role": "assistant", "content": said, **({"tool_calls": calls} if calls else {})})
            talk += [{"role": "tool", "tool_call_id": call["id"], "content": run(book, one["name"], one["input"])} for call, one in zip(calls, made)]
            new = {"tools": made} if made else {}


asyncio.run(main())
