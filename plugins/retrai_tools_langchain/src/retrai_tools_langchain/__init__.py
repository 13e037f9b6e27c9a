"""LangChain tools as retrai tools."""
