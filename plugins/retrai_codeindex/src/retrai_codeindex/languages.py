LANGUAGE_OF = {".py": "python", ".pyi": "python"}


def read_by_grammar(text, language):
    from .blocks import read_blocks

    return read_blocks(text, language)
