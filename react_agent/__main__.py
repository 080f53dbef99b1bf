"""`python -m react_agent` is the `react` command."""

from react_agent.cli import main

if __name__ == "__main__":
    main()
