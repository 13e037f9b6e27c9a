import pytest
from sample_plugins import others

from retrai_testkit import (
    AgentConformance,
    EventSinkConformance,
    FrontendConformance,
    HookConformance,
    LLMProviderConformance,
    MemoryStoreConformance,
    NotApplicable,
    SandboxConformance,
)


class OfEcho(LLMProviderConformance):
    model = "echo:hello"
    bad_model = NotApplicable("every model can be made")
    unready_model = "echo:hello"

    @pytest.fixture
    def ready_environment(self, monkeypatch):
        monkeypatch.setenv("ECHO_KEY", "x")


class TestGoodEcho(OfEcho):
    plugin = others.GoodEcho


class TestCrashingReady(OfEcho):
    plugin = others.CrashingReady


class TestNoChatModel(OfEcho):
    plugin = others.NoChatModel


class TestOneModelForAll(OfEcho):
    plugin = others.OneModelForAll


class OfStore(MemoryStoreConformance):
    def damage(self, project):
        (project / "store.jsonl").write_text("{ half of a")


class TestGoodStore(OfStore):
    plugin = others.GoodStore


class TestLosesEntries(OfStore):
    plugin = others.LosesEntries


class TestWorstFirst(OfStore):
    plugin = others.WorstFirst


class TestRaisesOnDamage(OfStore):
    plugin = others.RaisesOnDamage


class TestLearnsFromFailure(OfStore):
    plugin = others.LearnsFromFailure


class TestLeakyEnvironment(SandboxConformance):
    plugin = others.LeakyEnvironment


class TestNoTimeOut(SandboxConformance):
    plugin = others.NoTimeOut
    patience_s = 6.0


class TestLeavesProcesses(SandboxConformance):
    plugin = others.LeavesProcesses
    patience_s = 4.0


class TestNoCheckpointer(AgentConformance):
    plugin = others.NoCheckpointer


class TestDoesNothing(AgentConformance):
    plugin = others.DoesNothing


class TestGoodCount(FrontendConformance):
    plugin = others.GoodCount
    bad_arguments = (["--to", "-1"],)


class TestOtherName(FrontendConformance):
    plugin = others.OtherName
    bad_arguments = (["--to", "x"],)


class TestGoodGate(HookConformance):
    plugin = others.GoodGate
    entry_point = "good-gate"


class TestUnknownArgument(HookConformance):
    plugin = others.UnknownArgument
    entry_point = "unknown-argument"


class TestWrongAnswers(HookConformance):
    plugin = others.WrongAnswers
    entry_point = "wrong-answers"


class TestMisspelt(HookConformance):
    plugin = others.Misspelt
    entry_point = "misspelt"


class TestFormerSink(HookConformance):
    plugin = others.FormerSink
    entry_point = "former-sink"


class TestGoodSink(EventSinkConformance):
    plugin = others.GoodSink


class TestChoosySink(EventSinkConformance):
    plugin = others.ChoosySink


class TestLeavingSink(EventSinkConformance):
    plugin = others.LeavingSink
