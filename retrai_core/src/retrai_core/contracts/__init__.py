"""The contracts that plugins implement: one small abstract class per file."""
