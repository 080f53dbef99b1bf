"""The context budget: what each part of a prompt takes, and older results shortened before it is used up.

    sent = Budget.of(prompt, question, specs, context=8192, reply=512).start()
    parts = prompt.render(question, specs, sent.turns)       # then ask, and make a turn of the reply
    sent = sent.then(turn)

Reading order: `estimate.py` (characters to tokens), `shorten.py` (one result), `fit.py` (when, and which),
`size.py` (what a run reports).
"""

from react_agent.budget.fit import Budget, Sent, budget_of_run, fit, open_budget, refuse_too_long
from react_agent.budget.shorten import shortened
from react_agent.budget.size import Count, PromptSize, TurnSize, cut_warning, measure

__all__ = [
    "Budget",
    "Count",
    "PromptSize",
    "Sent",
    "TurnSize",
    "budget_of_run",
    "cut_warning",
    "fit",
    "measure",
    "open_budget",
    "refuse_too_long",
    "shortened",
]
