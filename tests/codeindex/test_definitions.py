"""What is a definition in which language, with its head and its comment."""

from __future__ import annotations

import pytest

PYTHON = """
import os

MAX_ITEMS: int = 10
Other = 3
X = 1
if os.name == "nt":
    SEPARATOR = (
        ";"
    )


class Cart:
    LIMIT = 4

    def total(self):
        INNER = 3
        return INNER
"""
JAVASCRIPT = """
/** How many. */
export const MAX_ITEMS = 10;
const other = 3;
class Cart { static LIMIT = 4; total() { const INNER = 3; return INNER; } }
"""
CPP = """
#ifndef CART_H
#define CART_H
// How many.
#define MAX_ITEMS 10
constexpr int LIMIT = 4;
int total() { const int INNER = 3; return INNER; }
#endif
"""
GO = """package cart

// How many.
const MAX_ITEMS = 10

const (
	LIMIT = iota
	other
)

func total() { const INNER = 3 }
"""
RUST = """
/// How many.
pub const MAX_ITEMS: usize = 10;
static NAME: &str = "x";
impl Cart { const LIMIT: u8 = 4; fn total() { const INNER: u8 = 3; } }
"""
JAVA = """
class Cart {
  /** How many. */
  public static final int MAX_ITEMS = 10;
  int other = 3;
  int total() { final int INNER = 3; return INNER; }
}
"""


@pytest.mark.parametrize(
    ("name", "text", "constants"),
    [
        ("cart.py", PYTHON, ["MAX_ITEMS", "SEPARATOR", "Cart.LIMIT"]),
        ("cart.js", JAVASCRIPT, ["MAX_ITEMS", "Cart.LIMIT"]),
        ("cart.cpp", CPP, ["MAX_ITEMS", "LIMIT"]),
        ("cart.go", GO, ["MAX_ITEMS", "LIMIT", "other"]),
        ("cart.rs", RUST, ["MAX_ITEMS", "NAME", "Cart.LIMIT"]),
        ("Cart.java", JAVA, ["Cart.MAX_ITEMS"]),
    ],
)
def test_constants_are_definitions(project, name: str, text: str, constants: list[str]) -> None:
    project.write(name, text)

    defined = project.index.module_summary(name)
    assert [each.symbol for each in defined if each.kind == "constant"] == constants
    (most,) = project.index.definition("MAX_ITEMS")
    assert text.split("\n")[most.start_line - 1].strip(" ;").endswith(most.signature)
    assert most.doc == ("" if name == "cart.py" else "How many.")
    assert project.symbols("MAX_ITEMS")[0].endswith("MAX_ITEMS")


def test_a_constant_of_several_lines_is_shown_whole(project) -> None:
    project.write("cart.py", PYTHON)

    (found,) = project.index.definition("SEPARATOR")
    assert (found.start_line, found.end_line, found.signature) == (8, 10, 'SEPARATOR = ( ";" )')


def test_a_class_is_one_where_a_macro_stands_before_its_name(project) -> None:
    text = "class EXPORT Cart : public Base {\n  int total() { return 3; }\n};\n"
    text += (
        "API\nclass EXPORT(1) Shop final : private std::Base {\n  int size() { return 3; }\n};\n"
    )
    text += "class Base {};\nstruct Item *first(int n) { return 0; }\n"
    project.write("cart.cpp", text)

    kinds = {each.symbol: each.kind for each in project.index.module_summary("cart.cpp")}
    assert kinds == {
        "Cart": "class",
        "Cart.total": "method",
        "Shop": "class",
        "Shop.size": "method",
        "Base": "class",
        "first": "function",
    }
    assert [each.symbol for each in project.index.subclasses("Base")] == ["Cart", "Shop"]


def test_a_header_may_be_one_of_cpp(project) -> None:
    project.write("cart.h", "namespace shop {\nclass Cart : public Base {\n  int n;\n};\n}\n")
    project.write("item.h", "struct item { int n; };\n")

    assert project.index.files() == {"cart.h": "cpp", "item.h": "c"}
    (found,) = project.index.definition("Cart")
    assert (found.kind, found.symbol) == ("class", "shop.Cart")


def test_a_function_in_a_variable_has_the_comment_above(project) -> None:
    project.write("cart.js", "/** Adds. */\nexport const add = (a, b) => a + b;\n")

    (found,) = project.index.definition("add")
    assert (found.signature, found.doc) == ("const add = (a, b) =>", "Adds.")


def test_a_type_of_go_has_its_head_and_the_comment_above(project) -> None:
    text = "package x\n\n// Server serves.\ntype Server struct {\n\t// Addr.\n\tAddr string\n}\n"
    project.write("x.go", f"{text}\n// Names are many.\ntype Names []string\n")

    found = [(each.signature, each.doc) for each in project.index.module_summary("x.go")]
    assert found == [
        ("type Server struct", "Server serves."),
        ("type Names []string", "Names are many."),
    ]


def test_a_comment_behind_a_line_belongs_to_that_line(project) -> None:
    constants = "const (\n\tGone = 410 // RFC 9110, 15.5.11\n\tFound = 302 // RFC 9110, 15.4.3\n)\n"
    project.write("x.go", f"package x\n\n{constants}")
    project.write("x.c", "#define GONE 410\nint found(void) { return 302; } // the answer\n")

    docs = {each.symbol: each.doc for each in project.index.module_summary("x.go")}
    assert docs == {"Gone": "RFC 9110, 15.5.11", "Found": "RFC 9110, 15.4.3"}
    docs = {each.symbol: each.doc for each in project.index.module_summary("x.c")}
    assert docs == {"GONE": "", "found": "the answer"}


def test_a_function_that_is_assigned_is_a_definition(project) -> None:
    project.write(
        "app.js",
        "/** Sends. */\nres.sendFile = function sendFile(path) { return stat(path); };\n"
        "exports.parse = (a) => a;\nmodule.exports = function createApp() {};\n"
        "Route.prototype.match = function (x) {};\nobj[key] = function () {};\nother = 3;\n",
    )
    project.write("main.js", "res.sendFile('a');\n")

    found = {each.symbol: each for each in project.index.module_summary("app.js")}
    assert list(found) == ["res.sendFile", "parse", "createApp", "Route.match"]
    assert found["res.sendFile"].doc == "Sends."
    assert found["res.sendFile"].signature == "res.sendFile = function sendFile(path)"
    callers = project.index.callers("sendFile")
    assert [call.caller.path for call in callers] == ["main.js"]


def test_what_a_module_exports_is_a_definition(project) -> None:
    project.write("a.ts", "export const asyncScheduler = new Scheduler();\nconst other = 3;\n")

    (found,) = project.index.module_summary("a.ts")
    assert (found.symbol, found.kind) == ("asyncScheduler", "constant")


def test_constants_of_go_and_cpp_that_stand_together_or_in_a_class(project) -> None:
    project.write(
        "x.go", "package x\n\nconst First, Last = 1, 9\n\nconst (\n\t_ = iota\n\tOne\n)\n"
    )
    project.write("x.cpp", "class A {\n  static constexpr int MAX = 1;\n  int LEFT;\n};\n")

    assert [each.symbol for each in project.index.module_summary("x.go")] == [
        "First",
        "Last",
        "One",
    ]
    assert [each.symbol for each in project.index.module_summary("x.cpp")] == ["A", "A.MAX"]


def test_a_class_that_is_assigned_is_defined_once(project) -> None:
    project.write("x.js", "exports.Cart = class Cart extends Base { total() {} }\n")

    found = [(each.kind, each.symbol) for each in project.index.module_summary("x.js")]
    assert found == [("class", "Cart"), ("method", "Cart.total")]


def test_comments_make_no_header_one_of_cpp(project) -> None:
    project.write("x.h", "/*\n  using this\n*/\n// class of its own\nint total(void);\n")

    assert project.index.files() == {"x.h": "c"}
