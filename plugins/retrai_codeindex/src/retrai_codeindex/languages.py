"""The languages that are read by a grammar of tree-sitter: their files, and their node types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Parser

_EXTENSIONS = {
    "python": ".py .pyi .pyw",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .tpp .cu .cuh",
    "javascript": ".js .jsx .mjs .cjs",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
}
_LANGUAGE_OF = {ext: name for name, exts in _EXTENSIONS.items() for ext in exts.split()}
_CPP = re.compile(
    r"^\s*(?:class|namespace|template|using)\b|^\s*(?:public|protected|private)\s*:|\bstd::",
    re.MULTILINE,
)
"""Signs of C++ in a header."""
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def language_of(path: str, text: str) -> str:
    """The language of a file, by the end of its name; `text` for what is none that is known.

    Args:
        path: its path.
        text: what is in it: a header may be one of C or of C++.

    Example:
        >>> language_of("a.h", "int x;"), language_of("a.h", "class X;"), language_of("a.md", "")
        ('c', 'cpp', 'text')
    """
    suffix = PurePosixPath(path).suffix.lower()
    language = _LANGUAGE_OF.get(suffix, "text")
    is_cpp = suffix == ".h" and _CPP.search(_COMMENT.sub("", text))
    return "cpp" if is_cpp else language


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the node types of a language mean.

    Attributes:
        module: the Python module of the grammar's wheel.
        function: the function in it that gives the language.
        definitions: node type -> kind.
        scopes: node types that are no definition, but whose name is a part of the dotted name.
        calls: node type -> the field with what is called.
        imports: node types that name other files or modules.
    """

    module: str
    definitions: Mapping[str, str]
    calls: Mapping[str, str]
    imports: frozenset[str]
    function: str = "language"
    scopes: frozenset[str] = field(default_factory=frozenset[str])


_C_DEFINITIONS = {
    "function_definition": "function",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "type_definition": "type",
    "preproc_function_def": "macro",
    "preproc_def": "constant",
    "init_declarator": "constant",
}
_C_CALLS = {"call_expression": "function"}
_JS_DEFINITIONS = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "class": "class",
    "method_definition": "method",
    "variable_declarator": "function",  # where its value is one; else a constant
    "field_definition": "method",
    "public_field_definition": "method",
    "pair": "function",
    "assignment_expression": "function",  # where a function is assigned
}
_JS_CALLS = {"call_expression": "function", "new_expression": "constructor"}
_JS_IMPORTS = frozenset({"import_statement"})
_TS_DEFINITIONS = {
    **_JS_DEFINITIONS,
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "type_alias_declaration": "type",
    "function_signature": "function",
    "method_signature": "method",
    "abstract_method_signature": "method",
}
_TS_SCOPES = frozenset({"internal_module", "module"})

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar(
        "tree_sitter_python",
        {"function_definition": "function", "class_definition": "class"},
        {"call": "function"},
        frozenset({"import_statement", "import_from_statement"}),
    ),
    "c": Grammar("tree_sitter_c", _C_DEFINITIONS, _C_CALLS, frozenset({"preproc_include"})),
    "cpp": Grammar(
        "tree_sitter_cpp",
        {
            **_C_DEFINITIONS,
            "class_specifier": "class",
            "alias_declaration": "type",
            "field_declaration": "constant",
        },
        {**_C_CALLS, "new_expression": "type"},
        frozenset({"preproc_include"}),
        scopes=frozenset({"namespace_definition"}),
    ),
    "javascript": Grammar("tree_sitter_javascript", _JS_DEFINITIONS, _JS_CALLS, _JS_IMPORTS),
    "typescript": Grammar(
        "tree_sitter_typescript",
        _TS_DEFINITIONS,
        _JS_CALLS,
        _JS_IMPORTS,
        function="language_typescript",
        scopes=_TS_SCOPES,
    ),
    "tsx": Grammar(
        "tree_sitter_typescript",
        _TS_DEFINITIONS,
        _JS_CALLS,
        _JS_IMPORTS,
        function="language_tsx",
        scopes=_TS_SCOPES,
    ),
    "go": Grammar(
        "tree_sitter_go",
        {
            "function_declaration": "function",
            "method_declaration": "method",
            "type_spec": "type",
            "const_spec": "constant",
        },
        _C_CALLS,
        frozenset({"import_spec"}),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        {
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "struct",
            "enum_item": "enum",
            "union_item": "union",
            "trait_item": "trait",
            "type_item": "type",
            "macro_definition": "macro",
            "const_item": "constant",
            "static_item": "constant",
        },
        {"call_expression": "function", "macro_invocation": "macro"},
        frozenset({"use_declaration"}),
        scopes=frozenset({"impl_item", "mod_item"}),
    ),
    "java": Grammar(
        "tree_sitter_java",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "class",
            "annotation_type_declaration": "interface",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "variable_declarator": "constant",
        },
        {"method_invocation": "name", "object_creation_expression": "type"},
        frozenset({"import_declaration"}),
    ),
}

CLASS_KINDS = frozenset({"class", "struct", "union", "interface", "trait", "enum", "type"})


@cache
def parser_of(language: str) -> Parser:
    """The parser of a language."""
    from tree_sitter import Language, Parser

    grammar = GRAMMARS[language]
    pointer: Callable[[], Any] = getattr(import_module(grammar.module), grammar.function)
    return Parser(Language(pointer()))  # pyright: ignore[reportDeprecated] - grammars still give a number
