from sample_plugins import rude, tools

from retrai_testkit import EndlessCall, NotApplicable, ToolConformance, ToolExample


class OnNotes(ToolConformance):
    examples = (
        ToolExample(
            {"path": "a.txt", "text": "hello"}, contains="hello", writes={"a.txt": "hello"}
        ),
    )
    bad_examples = ({"path": ".", "text": "a folder"},)
    path_argument = "path"
    long_example = {"path": "a.txt", "text": "x" * 5000}
    endless = EndlessCall({"path": "a.txt", "text": "endless"}, {"timeout_s": 0.3})
    bad_options = ({"timeout_s": 0},)


class TestGood(OnNotes):
    plugin = tools.GoodNote


class TestPastWorkspace(OnNotes):
    plugin = tools.PastWorkspace


class TestPastSandbox(OnNotes):
    plugin = tools.PastSandbox
    patience_s = 5.0


class TestUndeclaredWrite(OnNotes):
    plugin = tools.UndeclaredWrite


class TestSharedState(OnNotes):
    plugin = tools.SharedState


class TestWrongErrors(OnNotes):
    plugin = tools.WrongErrors


class TestNeverCut(OnNotes):
    plugin = tools.NeverCut


class TestUndocumented(OnNotes):
    plugin = tools.Undocumented


class TestNotInManifest(OnNotes):
    plugin = tools.NotInManifest


class TestRude(OnNotes):
    plugin = rude.Rude


class TestOverridden(OnNotes):
    plugin = tools.GoodNote
    test_a_long_answer_is_cut = None

    def test_it_declares_what_it_needs(self):
        pass


class TestNoExamples(ToolConformance):
    plugin = tools.GoodNote
    path_argument = NotApplicable("there is no reason at all")
