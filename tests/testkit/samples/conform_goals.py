from sample_plugins import goals

from retrai_testkit import GoalConformance


class OnWords(GoalConformance):
    endless_options = {"timeout_s": 0.3}

    def write_passing(self, folder):
        (folder / "words.txt").write_text("right\nright\n")

    def write_failing(self, folder):
        (folder / "words.txt").write_text("right\nwrong\n")

    def write_broken(self, folder):
        self.write_passing(folder)
        (folder / "check.sh").write_text("exit 3\n")

    def write_endless(self, folder):
        self.write_passing(folder)
        (folder / "check.sh").write_text("sleep 1000\n")


class TestGood(OnWords):
    plugin = goals.GoodWords


class TestUnstableIds(OnWords):
    plugin = goals.UnstableIds


class TestIdsWithFolder(OnWords):
    plugin = goals.IdsWithFolder


class TestIgnoresCwd(OnWords):
    plugin = goals.IgnoresCwd


class TestNoReason(OnWords):
    plugin = goals.NoReason


class TestBadGlobs(OnWords):
    plugin = goals.BadGlobs


class TestPastSandbox(OnWords):
    plugin = goals.PastSandboxGoal


class TestRaises(OnWords):
    plugin = goals.Raises


class TestLitters(OnWords):
    plugin = goals.Litters


class TestGreen(OnWords):
    plugin = goals.Green


class TestPassesWithoutReport(OnWords):
    plugin = goals.PassesWithoutReport


class TestTextAsAnswer(OnWords):
    plugin = goals.TextAsAnswer


class TestUnknownNeeds(OnWords):
    plugin = goals.UnknownNeeds


class TestOptionOfTheCore(OnWords):
    plugin = goals.OptionOfTheCore


class TestOneName(OnWords):
    plugin = goals.OneName
    entry_point = "one-name"
