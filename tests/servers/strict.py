# SPDX-License-Identifier: MIT
"""What a strict chat-completions server refuses, one rule a function.

    check(raw, headers, dialect, memory) -> None, or (rule, message)

`raw` is the body's bytes, `headers` a mapping with lower-case names (None: not looked at),
`dialect` a dict of switches over DIALECT, `memory` what this server said and saw before (None: the
rules that need it are passed over). Rules are run in the order of RULES; the first fault counts.
"""
import json
import re

DIALECT = {
    "id_pattern": r"[A-Za-z0-9_.:-]{1,64}",  # of call ids; Mistral: [A-Za-z0-9]{9}
    "refuse_null_content": False,  # of a turn that only calls
    "refuse_empty_content": True,
    "two_users": False,  # may two user messages stand in a row?
    "two_systems": False,
    "system_anywhere": False,
    "system_role": "system",  # system | developer | none
    "user_after_tool": True,
    "tool_images": False,  # may a tool message hold images?
    "names_listed": "some",  # of the tools that the history calls: "some", "all" or "none" must be
    "choice_none": True,  # is tool_choice "none" known?
    "echo_reasoning": False,  # must turns with calls bring their reasoning back?
    "stream_options": True,
    "max_tokens": ["max_tokens", "max_completion_tokens"],  # the fields that are known
    "extra": [],  # further top-level fields
    "prefix": True,  # must a run's messages only grow at their end?
    "key": None,  # the bearer token; None: none is asked for
}

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
REASONING = ("reasoning_content", "reasoning", "reasoning_details")
FIELDS = {
    "model": str, "messages": list, "tools": list, "tool_choice": (str, dict),
    "parallel_tool_calls": bool, "stream": bool, "stream_options": dict,
    "temperature": (int, float), "top_p": (int, float), "n": int, "stop": (str, list),
    "seed": int, "presence_penalty": (int, float), "frequency_penalty": (int, float),
    "response_format": dict, "reasoning_effort": str, "prompt_cache_key": str, "user": str,
}
MESSAGE_FIELDS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal", *REASONING},
    "tool": {"role", "content", "tool_call_id"},
}


class Refused(Exception):
    """A broken rule."""


class Memory:
    """What the server said and saw, for the rules that span requests."""

    def __init__(self):
        self.reasoning = {""}  # every reasoning text that was sent
        self.details = []  # every reasoning_details that was sent
        self.runs = {}  # opening of a conversation -> the messages last seen

    def forget_prefix(self):
        """The next request may have other messages: a compaction was asked for."""
        self.runs.clear()


class Request:
    def __init__(self, raw, headers, dialect, memory):
        self.raw = raw
        self.headers = headers
        self.dialect = {**DIALECT, **dialect}
        self.memory = memory
        self.body = None

    @property
    def messages(self):
        return self.body["messages"]

    @property
    def tool_names(self):
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]


RULES = []


def rule(function):
    RULES.append(function)
    return function


def refuse(message):
    raise Refused(message)


# ---- the body --------------------------------------------------------------------------------

@rule
def authorization(request):
    key = request.dialect["key"]
    if request.headers is not None and key is not None:
        if request.headers.get("authorization") != "Bearer " + key:
            refuse("Incorrect API key provided")


@rule
def content_type(request):
    if request.headers is not None:
        if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
            refuse("the content type is not application/json")


def no_constant(text):
    refuse(f"{text} is no JSON number")


def unique_pairs(pairs):
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            refuse(f"duplicate key {name!r}")
    return dict(pairs)


@rule
def strict_json(request):
    try:
        text = request.raw.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse(f"the body is no UTF-8: {error}")
    try:
        request.body = json.loads(text, parse_constant=no_constant, object_pairs_hook=unique_pairs)
    except ValueError as error:
        refuse(f"the body is no JSON: {error}")
    if not isinstance(request.body, dict):
        refuse("the body is no object")


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from strings_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings_in(member)


@rule
def sound_text(request):
    for text in strings_in(request.body):
        if "\0" in text:
            refuse(f"NUL in {text[:40]!r}")
        if any(0xD800 <= ord(c) <= 0xDFFF for c in text):
            refuse(f"half a surrogate pair in {text[:40]!r}")


# ---- top-level fields --------------------------------------------------------------------------

@rule
def known_fields(request):
    known = {*FIELDS, *request.dialect["max_tokens"], *request.dialect["extra"]}
    for name in request.body:
        if name not in known:
            refuse(f"unknown field {name!r}")
    if "stream_options" in request.body:
        if not request.dialect["stream_options"]:
            refuse("unknown field 'stream_options'")
        if request.body.get("stream") is not True:
            refuse("stream_options without stream")


@rule
def field_types(request):
    for name, kinds in FIELDS.items():
        value = request.body.get(name, Ellipsis)
        if value is Ellipsis:
            continue
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            refuse(f"{name} is of the wrong type")
    for name in request.dialect["max_tokens"]:
        value = request.body.get(name, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            refuse(f"{name} is no positive integer")
    if not request.body.get("model"):
        refuse("model is missing")
    if not 0 <= request.body.get("temperature", 0) <= 2:
        refuse("temperature is out of range")


@rule
def tools(request):
    listed = request.body.get("tools")
    if listed is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if name in request.body:
                refuse(f"{name} without tools")
        return
    if not listed:
        refuse("tools is empty")
    for tool in listed:
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            refuse("a tool is no function")
        if not NAME.match(function.get("name") or ""):
            refuse(f"tool name {function.get('name')!r}")
        if not isinstance(function.get("description", ""), str):
            refuse("a description is no text")
        check_schema(function.get("parameters"), function["name"])
    names = request.tool_names
    for name in names:
        if names.count(name) > 1:
            refuse(f"duplicate tool name {name!r}")


def check_schema(schema, name):
    if schema is None:
        return
    if not isinstance(schema, dict) or schema.get("type") != "object":
        refuse(f"the parameters of {name!r} are no schema of an object")
    check_references(schema, schema, name)


def check_references(value, root, name):
    if isinstance(value, list):
        for member in value:
            check_references(member, root, name)
    if not isinstance(value, dict):
        return
    reference = value.get("$ref")
    if isinstance(reference, str) and not resolves(reference, root):
        refuse(f"{reference!r} in the parameters of {name!r} leads nowhere")
    for member in value.values():
        check_references(member, root, name)


def resolves(reference, root):
    if not reference.startswith("#"):
        return False
    at = root
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, list) and step.isdigit() and int(step) < len(at):
            at = at[int(step)]
        elif isinstance(at, dict) and step in at:
            at = at[step]
        else:
            return False
    return True


@rule
def tool_choice(request):
    choice = request.body.get("tool_choice")
    if choice is None:
        return
    if isinstance(choice, dict):
        if choice.get("type") != "function" or \
                (choice.get("function") or {}).get("name") not in request.tool_names:
            refuse("tool_choice names no listed tool")
    elif choice not in ("auto", "none", "required"):
        refuse(f"tool_choice {choice!r}")
    elif choice == "none" and not request.dialect["choice_none"]:
        refuse("tool_choice 'none' is not known here")


@rule
def response_format(request):
    wanted = request.body.get("response_format")
    if wanted is None or wanted.get("type") in ("text", "json_object"):
        return
    inner = wanted.get("json_schema")
    if wanted.get("type") != "json_schema" or not isinstance(inner, dict):
        refuse("response_format")
    if not NAME.match(inner.get("name") or "") or not isinstance(inner.get("schema"), dict):
        refuse("response_format.json_schema needs a name and a schema")
    check_references(inner["schema"], inner["schema"], "response_format")
    if inner.get("strict"):
        check_strict(inner["schema"])


def check_strict(schema):
    if isinstance(schema, list):
        for member in schema:
            check_strict(member)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            refuse("a strict schema needs additionalProperties: false")
        if set(schema.get("required", [])) != set(schema.get("properties", {})):
            refuse("a strict schema needs every property required")
    for member in schema.values():
        check_strict(member)


# ---- messages, one by one ----------------------------------------------------------------------

@rule
def message_shapes(request):
    if not request.messages:
        refuse("messages is empty")
    for message in request.messages:
        if not isinstance(message, dict) or message.get("role") not in MESSAGE_FIELDS:
            refuse("a message without a known role")
        for name in message:
            if name not in MESSAGE_FIELDS[message["role"]]:
                refuse(f"unknown field {name!r} in a message of role {message['role']}")
        if "content" not in message and "tool_calls" not in message:
            refuse(f"a message of role {message['role']} without content")


def check_parts(parts, images):
    if not parts:
        refuse("content without parts")
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            if not isinstance(part.get("text"), str) or not part["text"].strip():
                refuse("a blank text part")
        elif kind == "image_url":
            url = (part.get("image_url") or {}).get("url", "")
            if not images:
                refuse("an image where none may be")
            if not re.match(r"https?://|data:image/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+=*\Z", url):
                refuse("an image without a proper address")
        else:
            refuse(f"a part of type {kind!r}")


@rule
def contents(request):
    for message in request.messages:
        content, role = message.get("content"), message["role"]
        if isinstance(content, list):
            check_parts(content, role == "user" or
                        (role == "tool" and request.dialect["tool_images"]))
        elif role != "assistant" and (not isinstance(content, str) or not content.strip()):
            refuse(f"empty content of a message of role {role}")
        elif content is not None and not isinstance(content, str):
            refuse("content is neither text nor parts")


@rule
def assistant_contents(request):
    for message in request.messages:
        if message["role"] != "assistant":
            continue
        content, calls = message.get("content"), message.get("tool_calls")
        if calls is not None and (not isinstance(calls, list) or not calls):
            refuse("tool_calls is empty")
        if calls and "content" in message:
            if content is None and request.dialect["refuse_null_content"]:
                refuse("content null beside calls")
            if content == "" and request.dialect["refuse_empty_content"]:
                refuse("content '' beside calls")
        if not calls and not (isinstance(content, list) or (content or "").strip()):
            refuse("an assistant message with neither text nor calls")


@rule
def calls(request):
    seen = set()
    for message in request.messages:
        for call in message.get("tool_calls") or []:
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict) or call.get("type") != "function":
                refuse("a call is no function's")
            if not re.fullmatch(request.dialect["id_pattern"], str(call.get("id"))):
                refuse(f"call id {call.get('id')!r}")
            if call["id"] in seen:
                refuse(f"call id {call['id']!r} is used twice")
            seen.add(call["id"])
            check_call(function, request)


def check_call(function, request):
    name = function.get("name") or ""
    if not NAME.match(name):
        refuse(f"called name {name!r}")
    wanted = request.dialect["names_listed"]
    if wanted == "some" and not request.tool_names:
        refuse("calls in the history, but no tools")
    if wanted == "all" and name not in request.tool_names:
        refuse(f"{name!r} is called but not listed")
    try:
        arguments = json.loads(function.get("arguments"), parse_constant=no_constant)
    except (TypeError, ValueError):
        arguments = None
    if not isinstance(arguments, dict):
        refuse(f"the arguments of {name!r} are no JSON object")


# ---- messages, side by side --------------------------------------------------------------------

@rule
def pairs(request):
    waiting = []
    for message in request.messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                refuse(f"a result for {message.get('tool_call_id')!r}, which no open call waits for")
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            refuse(f"a message of role {message['role']} while {waiting} wait for results")
        waiting = [call["id"] for call in message.get("tool_calls") or []]
    if waiting:
        refuse(f"{waiting} have no result")


@rule
def order(request):
    dialect, before = request.dialect, None
    for at, message in enumerate(request.messages):
        role = message["role"]
        if role in ("system", "developer"):
            if role != dialect["system_role"]:
                refuse(f"the role {role} is not known here")
            if at > 0 and before != role and not dialect["system_anywhere"]:
                refuse("a system message that is not the first")
            if before == role and not dialect["two_systems"]:
                refuse("two system messages in a row")
        if role == "user" and before == "user" and not dialect["two_users"]:
            refuse("two user messages in a row")
        if role == "user" and before == "tool" and not dialect["user_after_tool"]:
            refuse("a user message right after a tool message")
        before = role
    if before == "assistant":
        refuse("the last message is the assistant's")


@rule
def reasoning(request):
    if request.memory is None:
        return
    for message in request.messages:
        if message["role"] != "assistant":
            continue
        for name in ("reasoning_content", "reasoning"):
            if name in message and message[name] not in request.memory.reasoning:
                refuse(f"{name} {message[name]!r} was never sent")
        details = message.get("reasoning_details")
        if details is not None and details not in request.memory.details:
            refuse("reasoning_details with a changed signature")
        if request.dialect["echo_reasoning"] and message.get("tool_calls") and \
                not any(name in message for name in REASONING):
            refuse("reasoning_content is missing in a turn with calls")


def opening(messages):
    """The messages up to the first of the user: what tells conversations apart."""
    for at, message in enumerate(messages):
        if message["role"] == "user":
            return json.dumps(messages[:at + 1], sort_keys=True)
    return json.dumps(messages[:1], sort_keys=True)


@rule
def prefix(request):
    """Action and final requests list the tools; planning and summary requests do not."""
    if request.memory is None or not request.dialect["prefix"] or "tools" not in request.body:
        return
    before = request.memory.runs.get(opening(request.messages), [])
    if request.messages[:len(before)] != before:
        at = next((i for i, (a, b) in enumerate(zip(before, request.messages)) if a != b),
                  len(request.messages))
        refuse(f"message {at} is not what it was in the request before")
    request.memory.runs[opening(request.messages)] = request.messages


# ---- all of them -------------------------------------------------------------------------------

def check(raw, headers=None, dialect=None, memory=None):
    request = Request(raw, headers, dialect or {}, memory)
    for function in RULES:
        try:
            function(request)
        except Refused as fault:
            return function.__name__, str(fault)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            return function.__name__, f"malformed: {error!r}"
    return None
