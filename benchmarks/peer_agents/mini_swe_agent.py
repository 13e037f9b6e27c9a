"""mini-swe-agent's agent, model and environment as its documentation wires them in Python."""

from __future__ import annotations

import sys
from pathlib import Path

import yaml
from minisweagent import package_dir
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel


def main() -> None:
    """Let the model call its one tool, the shell, until it submits."""
    config = yaml.safe_load(Path(package_dir / "config" / "mini.yaml").read_text())
    server = {"api_base": sys.argv[1], "api_key": "sk-none"}
    templates = ("system_template", "instance_template")
    agent = DefaultAgent(
        LitellmModel(model_name="openai/gpt-4o-mini", model_kwargs=server),
        LocalEnvironment(),
        **{name: config["agent"][name] for name in templates},
    )
    agent.run("Call the tool until it is enough.")


main()
