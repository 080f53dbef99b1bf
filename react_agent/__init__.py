"""The Thought, Action, Observation loop for any model that can only complete text."""

__version__ = "0.1.0"
