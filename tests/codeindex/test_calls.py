"""The call graph: Python by the resolver, other languages by name, and what questions answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrai_codeindex import Index

DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "coderag" / "pycg_dev.jsonl"


def graph_of(folder: Path, files: dict[str, str]) -> dict[str, list[str]]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Index.open(folder, path=folder.parent / f"{folder.name}.sqlite", jobs=1) as index:
        return index.graph()


@pytest.mark.skipif(not DATA.is_file(), reason="no call graph cases in ../shared/data")
def test_the_graphs_of_the_pycg_cases_are_found(tmp_path: Path) -> None:
    right = found = wanted = 0
    for number, line in enumerate(DATA.read_text().splitlines()):
        case = json.loads(line)
        graph = graph_of(tmp_path / str(number), case["files"])
        got = {(caller, callee) for caller, callees in graph.items() for callee in callees}
        want = {(caller, callee) for caller, every in case["callgraph"].items() for callee in every}
        right, found, wanted = right + len(got & want), found + len(got), wanted + len(want)
    assert 2 * right / (found + wanted) > 0.93


def test_calls_cross_modules_re_exports_and_relative_imports(project) -> None:
    project.write("shop/__init__.py", "from .cart import Cart as Basket\n")
    project.write("shop/cart.py", "class Cart:\n    def total(self):\n        return 1\n")
    project.write("use.py", "from shop import Basket\n\ndef show():\n    Basket().total()\n")

    assert [c.caller.name for c in project.index.callers("Cart.total")] == ["use.show"]
    (call,) = [c for c in project.index.callees("show") if c.callee.symbol == "Cart.total"]
    assert (call.callee.path, call.callee.start_line, call.lines) == ("shop/cart.py", 2, (4,))


def test_files_in_a_src_folder_are_named_as_they_are_imported(project) -> None:
    project.write("src/shop/__init__.py", "")
    project.write("src/shop/cart.py", "def total():\n    pass\n")
    project.write(
        "tests/test_cart.py", "from shop.cart import total\n\ndef test_it():\n    total()\n"
    )

    assert [c.caller.name for c in project.index.callers("shop.cart.total")] == [
        "tests.test_cart.test_it"
    ]


def test_a_decorator_does_not_mix_what_it_decorates(project) -> None:
    project.write(
        "a.py",
        "def log(f):\n    return f\n\n@log\ndef one():\n    pass\n\n@log\ndef two():\n    pass\n\n"
        "def use():\n    one()\n",
    )

    assert project.index.graph()["a.use"] == ["a.one"]


def test_annotations_say_what_a_parameter_is(project) -> None:
    project.write(
        "a.py",
        "class Cart:\n    def total(self):\n        pass\n\n"
        "def show(cart: 'Cart | None'):\n    cart.total()\n",
    )

    assert project.index.graph()["a.show"] == ["a.Cart.total"]


def test_a_call_with_no_known_target_stays_visible(project) -> None:
    project.write("a.py", "def show(cart):\n    cart.total()\n\ndef total():\n    pass\n")

    (call,) = project.index.callees("show")
    assert (call.resolved, call.callee.name, call.lines) == (False, "total", (2,))
    (call,) = project.index.callers("total")
    assert (call.resolved, call.caller.name) == (False, "a.show")


def test_an_ambiguous_name_lists_its_candidates_and_an_unknown_one_similar_names(project) -> None:
    project.write(
        "a.py", "class A:\n    def load(self): pass\n\nclass B:\n    def load(self): pass\n"
    )

    index = project.index
    assert [d.name for d in index.definition("load")] == ["a.A.load", "a.B.load"]
    assert [d.name for d in index.definition("a.py:B.load")] == ["a.B.load"]
    assert [d.name for d in index.definition("a.py")] == ["a"]
    project.write("shop/b.py", "class C:\n    pass\n")
    index.update()
    assert [d.name for d in index.definition("b.py:C")] == ["shop.b.C"]
    assert not index.definition("%.py")
    assert index.definition("laod") == []
    assert [d.name for d in index.similar("laod")] == ["a.A.load", "a.B.load"]


def test_a_method_is_found_by_a_class_that_inherits_it(project) -> None:
    project.write("base.py", "class Base:\n    def load(self): pass\n")
    project.write("a.py", "from base import Base\n\nclass Schema(Base): pass\n\nSchema().load()\n")

    assert [d.name for d in project.index.definition("Schema.load")] == ["base.Base.load"]
    assert [c.caller.name for c in project.index.callers("a.Schema.load")] == ["a"]


def test_chains_and_shortest_paths(project) -> None:
    project.write("a.py", "def a():\n    b()\ndef b():\n    c()\n    a()\ndef c():\n    len('')\n")

    index = project.index
    assert [d.name for d in index.call_path("a", "c")] == ["a.a", "a.b", "a.c"]
    assert index.call_path("c", "a") == []
    down = [(depth, d.name) for depth, d in index.call_chain("a", max_depth=5)]
    assert down[:3] == [(0, "a.a"), (1, "a.b"), (2, "a.a")]
    assert (3, "<builtin>.len") in down
    assert [(n, d.name) for n, d in index.call_chain("c", up=True)][:2] == [(0, "a.c"), (1, "a.b")]


OTHERS = {
    "c": (
        {
            "cart.h": "struct cart { int n; };\nint total(struct cart *c);\n",
            "cart.c": '#include "cart.h"\nstatic int sum(int n) { return n; }\n'
            "int total(struct cart *c) { return sum(c->n); }\n",
            "main.c": '#include "cart.h"\nint main(void) { return total(0); }\n',
        },
        {("cart.c.total", "cart.c.sum"), ("main.c.main", "cart.c.total")},
    ),
    "cpp": (
        {
            "shop.cpp": "namespace shop {\nclass Item {\n public:\n"
            "  int price() { return help(1); }\n"
            "  int help(int x);\n};\nint Item::help(int x) { return x; }\n}\n",
        },
        {("shop.cpp.shop.Item.price", "shop.cpp.shop.Item.help")},
    ),
    "javascript": (
        {
            "a.js": 'import { total } from "./b";\nexport const f = () => total([]);\n',
            "b.js": "export function total(xs) { return xs.length; }\n",
        },
        {("a.js.f", "b.js.total")},
    ),
    "typescript": (
        {
            "a.ts": "class Cart {\n  add(x: number) { this.check(x); }\n"
            "  private check(x: number): void {}\n}\n",
        },
        {("a.ts.Cart.add", "a.ts.Cart.check")},
    ),
    "go": (
        {
            "m.go": "package main\ntype Cart struct{}\n"
            "func (c *Cart) Total() int { return half(4) }\n"
            "func half(x int) int { return x / 2 }\n",
        },
        {("m.go.Cart.Total", "m.go.half")},
    ),
    "rust": (
        {
            "l.rs": "struct Cart;\nimpl Cart {\n  fn total(&self) -> u32 { self.inner() }\n"
            "  fn inner(&self) -> u32 { 1 }\n}\n",
        },
        {("l.rs.Cart.total", "l.rs.Cart.inner")},
    ),
    "java": (
        {
            "A.java": "class A {\n  int total() { return half(1); }\n"
            "  static int half(int x) { return x / 2; }\n"
            "  static int half(int x, int y) { return x; }\n}\n",
        },
        {("A.java.A.total", "A.java.A.half")},
    ),
}


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_resolve_by_scope_import_receiver_and_arity(
    tmp_path: Path, language: str
) -> None:
    files, wanted = OTHERS[language]
    graph = graph_of(tmp_path / "project", files)
    assert {(a, b) for a, every in graph.items() for b in every} == wanted


def test_a_name_with_thousands_of_callers_is_answered(project) -> None:
    lines = [f"def f{n}():\n    hot()\n" for n in range(3000)]
    project.write("a.py", "def hot():\n    pass\n" + "".join(lines))

    assert len(project.index.callers("hot")) == 3000


def test_inheritance_in_a_circle_and_endless_calls_end(project) -> None:
    project.write(
        "a.py",
        "class A(B): pass\nclass B(A): pass\nA().x()\n"
        "def f(g):\n    return f(lambda: g(f))\nf(f)\nx = [x for x in [f]]\nx = [x]\n"
        "def deep(a):\n    return deep([a])[0]\ndeep(deep)\n"
        "import m\ny = m\nwhile y: y = y.next()\n",
    )

    assert "a.f" in project.index.graph()["a"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "class A:\n    pass\n\n\nclass B(A):\n    pass\n\n\nclass C(B):\n    pass\n"),
        ("a.cpp", "class A {};\nclass B : public A {};\nclass C : public B {};\n"),
        ("a.ts", "class A {}\nclass B extends A {}\nclass C extends B {}\n"),
        ("A.java", "class A {}\nclass B extends A {}\nclass C extends B {}\n"),
        (
            "a.rs",
            (
                "trait A {}\nstruct B;\nenum C { D }\nimpl a::A for B {}\nimpl A for C {}\n"
                "impl A for Vec<u8> {}\nimpl From<A> for C {}\n"
            ),
        ),
    ],
)
def test_subclasses_are_found_at_any_depth(project, name: str, text: str) -> None:
    project.write(name, text)
    assert [each.symbol for each in project.index.subclasses("A")] == ["B", "C"]
    assert [each.symbol for each in project.index.subclasses("C")] == []
    assert project.index.subclasses("nothing") == []


def test_a_trait_may_be_implemented_far_from_the_type(project) -> None:
    project.write("a.rs", "pub trait Draw {}\n")
    project.write("b.rs", "pub struct Circle;\n")
    project.write("c.rs", "use crate::a::Draw;\nuse crate::b::Circle;\nimpl Draw for Circle {}\n")
    (found,) = project.index.subclasses("Draw")
    assert (found.path, found.symbol) == ("b.rs", "Circle")


def test_of_several_copies_the_one_beside_is_meant(project) -> None:
    for folder in ("src/internal", "dist/internal"):
        project.write(f"{folder}/Subject.ts", "export class Subject {}\n")
        text = "import { Subject } from './Subject';\nclass Replay extends Subject {}\n"
        project.write(f"{folder}/Replay.ts", text)
    found = project.index.subclasses("src/internal/Subject.ts:Subject")
    assert [each.path for each in found] == ["src/internal/Replay.ts"]


def test_subclasses_of_what_is_not_of_the_project_are_found(project) -> None:
    text = (
        "from collections import abc\nclass A(abc.Mapping, object): ...\nclass B(KeyError): ...\n"
    )
    project.write("a.py", f"{text}class C(B): ...\n")
    project.write("A.java", "class D extends RuntimeException {}\n")

    def found(name: str) -> list[str]:
        return [each.symbol for each in project.index.subclasses(name)]

    assert found("Mapping") == found("abc.Mapping") == found("collections.abc.Mapping") == ["A"]
    assert found("Exception") == ["B", "C"]
    assert found("RuntimeException") == ["D"]
    assert found("object") == found("Mappin_") == []
    assert "KeyError" not in project.index.graph()


@pytest.mark.parametrize(
    ("name", "text", "base", "others"),
    [
        ("a.ts", "class B<T> {}\nclass I {}\nclass R extends n.B<I> implements X {}\n", "B", "I"),
        ("a.js", "class B {}\nclass I {}\nclass R extends mix(B, { a: I, b() { return I } }) {}\n",
         "mix", "BI"),
        ("A.java", "interface B<T> {}\nclass I {}\nclass R implements B<I> {}\n", "B", "I"),
        ("C.java", "interface B {}\ninterface R extends B {}\n", "B", ""),
        ("a.cpp", "class B {};\nclass I {};\nclass R : public x::B<I>, private I2 {};\n", "B", "I"),
        ("b.cpp", "class B {};\nclass API R : public x::B<int>, B2 {};\n", "B", ""),
        ("a.rs", "trait B {}\ntrait R: B + Send {}\nstruct I;\nimpl !B for I {}\n", "B", "I"),
        ("b.js", "class B {}\nmodule.exports = class R extends B { a() {} }\n", "B", ""),
        ("c.js", "class B {}\nconst R = class extends B {}\n", "B", ""),
    ],
)  # fmt: skip
def test_bases_are_names_without_their_arguments(
    project, name: str, text: str, base: str, others: str
) -> None:
    project.write(name, text)
    assert [each.symbol for each in project.index.subclasses(base)] == ["R"]
    for other in others:
        assert project.index.subclasses(other) == []
    (found,) = project.index.definition("R")
    assert found.kind in ("class", "interface", "trait")


def test_subclasses_in_a_circle_end(project) -> None:
    project.write("a.ts", "class A extends B {}\nclass B extends A {}\n")
    assert [each.symbol for each in project.index.subclasses("A")] == ["B"]
