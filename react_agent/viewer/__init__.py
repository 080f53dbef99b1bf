"""Show saved runs: as a page that can be sent, as a sheet that can be printed.

    Path("page.html").write_text(page([open_run(Path("run.yaml"))]))

Reading order: `markup.py` (text that cannot be forgotten to be escaped), `run.py` (what is shown of a run),
`strip.py`, `steps.py`, `page.py` with `page.html`, `page.css` and `page.js`; then `pieces.py` and `paper.py`.
"""

from react_agent.viewer.page import page
from react_agent.viewer.run import Asked, Run, Step, open_run, prompt_parts, step_of

__all__ = ["Asked", "Run", "Step", "open_run", "page", "prompt_parts", "step_of"]
