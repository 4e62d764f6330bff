"""The shapes of questions and answers."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class Open(TypedDict, total=False):
    """What to open."""

    roots: List[str]
    settings: Dict[str, Any]
    home: bool


class Text(TypedDict):
    """A file in memory."""

    path: str
    text: str


class Texts(TypedDict, total=False):
    """A workspace of texts; `files` are files whose text does not matter."""

    texts: List[Text]
    files: List[str]
    settings: Dict[str, Any]


class ToolCall(TypedDict, total=False):
    """A tool call that the agent made."""

    name: str
    input: Dict[str, Any]


class Input(TypedDict, total=False):
    """What the agent knows."""

    message: str
    paths: List[str]
    mentions: List[str]
    tools: List[ToolCall]
    mode: str
    provider: str
    model: str
    agent: str
    os: str


# `for` and `as` are words of Python.
Question = TypedDict("Question", {"input": Input, "for": str, "as": str}, total=False)
PromptQuestion = TypedDict("PromptQuestion", {"input": Input, "for": str, "as": str, "budget": int}, total=False)


class Diagnostic(TypedDict, total=False):
    """What is wrong in a file."""

    path: str
    line: int
    column: int
    code: str
    severity: Literal["error", "warning", "note"]
    message: str
    help: Optional[str]


class Diagnostics(TypedDict):
    """Every problem."""

    version: int
    diagnostics: List[Diagnostic]


class NoticeRule(TypedDict):
    """A conditional rule that applies."""

    name: str
    matchedConditions: Dict[str, List[str]]


class Notice(TypedDict):
    """The conditional rules that apply since this turn, for the user."""

    type: Literal["conditional_rules_applied"]
    rules: List[NoticeRule]


class Applied(TypedDict):
    """A rule in the text for the model."""

    id: str
    key: str
    name: str
    source: str
    matchedConditions: Dict[str, List[str]]


class Offered(TypedDict):
    """A rule that the model can read by its name. `overBudget`: it applies, and is only offered because of the budget."""

    id: str
    key: str
    name: str
    description: str
    globs: List[str]
    source: str
    overBudget: bool


class Prompt(TypedDict):
    """The text for the model."""

    version: int
    text: str
    applied: List[Applied]
    notice: Optional[Notice]
    paths: List[Dict[str, Any]]
    pathsCut: int
    offered: List[Offered]
    omitted: List[Offered]
    tokens: int
    tokensEstimated: bool
    diagnostics: List[Diagnostic]


class Target(TypedDict):
    """A path, and what each rule does for it."""

    path: Optional[str]
    stack: List[Dict[str, Any]]
    overridden: List[Dict[str, Any]]
    offered: List[Offered]
    stream: List[Dict[str, Any]]
    inactive: List[Dict[str, Any]]
    disabled: List[Dict[str, Any]]
    rejected: List[Dict[str, Any]]
    agents: Dict[str, Dict[str, Any]]


Explanation = TypedDict("Explanation", {
    "version": int, "for": Optional[str], "as": Optional[str], "notSearched": Optional[str],
    "differences": List[Dict[str, Any]], "targets": List[Target], "diagnostics": List[Diagnostic],
})


class OtherRule(TypedDict):
    """Another rule that a name fits."""

    id: str
    key: str
    source: str


class RuleText(TypedDict):
    """One rule."""

    version: int
    uri: str
    id: str
    key: str
    name: str
    source: str
    mimeType: str
    text: str
    others: List[OtherRule]
    diagnostics: List[Diagnostic]


class RuleFile(TypedDict):
    """One rule file."""

    version: int
    path: str
    rules: List[Dict[str, Any]]
    header: List[Dict[str, Any]]
    fixed: Optional[Dict[str, Any]]
    readers: List[str]
    diagnostics: List[Diagnostic]


class Turn(TypedDict):
    """One request: `system` is everything that applies now, `added` what is not in the conversation yet."""

    version: int
    system: str
    added: str
    notice: Optional[Notice]
    diagnostics: List[Diagnostic]


class Interrupt(TypedDict):
    """Why the answer must stop. Send the retry with `text` added, after `output` if there is one."""

    text: str
    rules: List[str]
    output: Optional[str]


class Step(TypedDict):
    """What a delta results in; `show` is safe to show now."""

    show: str
    thinking: str
    retry: Optional[Interrupt]
    notice: Optional[str]


class TextDelta(TypedDict):
    """More text or thinking."""

    type: Literal["text", "thinking"]
    text: str


class ToolDelta(TypedDict):
    """More arguments of a tool call."""

    type: Literal["tool"]
    id: str
    name: str
    delta: str


Delta = Union[str, TextDelta, ToolDelta]


class TextEvent(TypedDict):
    """Text or thinking to show, or a notice for the user."""

    type: Literal["text", "thinking", "notice"]
    text: str


class RetryEvent(TypedDict):
    """The last event of an answer that must stop."""

    type: Literal["retry"]
    text: str
    rules: List[str]
    output: Optional[str]


class ToolEvent(TypedDict):
    """A call that may run. `input` is JSON."""

    type: Literal["tool"]
    id: str
    name: str
    input: str


WatchEvent = Union[TextEvent, RetryEvent, ToolEvent]
