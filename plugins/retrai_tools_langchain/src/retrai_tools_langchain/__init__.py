"""Makes LangChain tools tools of a run."""
