"""LangChain's two text parsers for ReAct prompts."""

from importlib.metadata import version
from typing import Any

from binding import Answer, Call
from langchain_classic.agents.output_parsers.react_single_input import ReActSingleInputOutputParser
from langchain_classic.agents.structured_chat.output_parser import StructuredChatOutputParser
from langchain_core.agents import AgentFinish
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage

VERSIONS = {name: version(name) for name in ("langchain-classic", "langchain-core")}
PARSE_ERRORS = (OutputParserException,)
SINGLE_INPUT = ReActSingleInputOutputParser()
STRUCTURED = StructuredChatOutputParser()


def single_input(text: Any, tools: Any, finish_reason: Any) -> list[Call] | Answer:
    return found(SINGLE_INPUT, text)


def structured_chat(text: Any, tools: Any, finish_reason: Any) -> list[Call] | Answer:
    return found(STRUCTURED, text)


def found(parser: Any, text: Any) -> list[Call] | Answer:
    """A list of content parts is given as a message, which these parsers take too."""
    step = parser.invoke(AIMessage(content=text)) if isinstance(text, list) else parser.parse(text)
    if isinstance(step, AgentFinish):
        return Answer(step.return_values["output"])
    return [Call(step.tool, step.tool_input)]
