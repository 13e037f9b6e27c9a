"""Runs over the API, as clients of the original server and newer ones make them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from retrai_core.workspace.lock import WorkspaceLock
from retrai_testkit import call, say

from .served import Served, put, request

ERROR = {"error", "message", "hint", "details", "detail"}


def test_a_run_is_started_followed_and_shown(served: Served) -> None:
    run_id = served.start(served.project("follow"), put("right"))
    events = served.events(run_id)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["kind"] == "run_end"
    assert set(events[0]) == {"kind", "run_id", "iteration", "ts", "payload", "seq"}
    run = served.wait(run_id)
    assert (run["status"], run["goal"], run["model_name"]) == (
        "achieved",
        "expected-files",
        "scripted",
    )
    assert run["final_state"]["goal_achieved"] is True
    assert run["final_state"]["iteration"] == 1
    assert run["record"]["id"] == run_id
    assert served.http.get(f"/api/runs/{run_id}/events?after=3").json() == events[3:]
    assert served.events(run_id, f"?after={events[-1]['seq'] - 1}") == events[-1:]
    assert "+right" in served.http.get(f"/api/runs/{run_id}/diff").json()["diff"]


def test_server_sent_events_go_on_behind_the_last_one_seen(served: Served) -> None:
    run_id = served.start(served.project("sse"), put("right"))
    served.wait(run_id)
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "2"}
    answer = served.http.get(f"/api/runs/{run_id}/events", headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    numbers = [line[4:] for line in answer.text.splitlines() if line.startswith("id: ")]
    assert numbers[0] == "3"
    assert "event: run_end" in answer.text


def test_what_the_projects_own_file_runs_needs_trust_in_exactly_that(served: Served) -> None:
    folder = served.project("trust", "right")
    settings = folder / ".retrai.yml"
    settings.write_text("goal: shell-goal\ncheck_command: grep right a.txt\n")
    body = {"cwd": str(folder), "model_name": "offline", "memory": "none"}
    refused = served.http.post("/api/runs", json=body)
    assert refused.status_code == 409
    problem = refused.json()
    assert (set(problem), problem["error"]) == (ERROR, "TrustRequired")
    assert problem["detail"] == problem["message"]
    assert "grep right a.txt" in json.dumps(problem["details"]["items"])
    trusted = {**body, "trust": problem["details"]["digest"]}
    settings.write_text("goal: shell-goal\ncheck_command: touch evil\n")
    changed = served.http.post("/api/runs", json=trusted)
    assert changed.status_code == 409
    assert changed.json()["details"]["digest"] != trusted["trust"]
    settings.write_text("goal: shell-goal\ncheck_command: grep right a.txt\n")
    started = served.http.post("/api/runs", json=trusted)
    assert started.status_code == 201
    assert served.wait(started.json()["run_id"])["status"] == "achieved"
    assert not (folder / "evil").exists()


def test_a_person_approves_an_iteration_and_ends_another_run(served: Served) -> None:
    first, second = served.project("approve"), served.project("end")
    run_id = served.start(first, put("still wrong"), put("right"), hitl_enabled=True)
    served.wait(run_id, "waiting")
    (question,) = served.http.get(f"/api/runs/{run_id}/questions").json()
    seen = served.show(run_id)  # a run that works shows how far it is
    assert (seen["iteration"], seen["total_tokens"] > 0) == (1, True)
    unknown = served.http.post(f"/api/runs/{run_id}/resume", json={"decision": "perhaps"})
    assert unknown.status_code == 422
    assert "abort" in unknown.json()["details"]["choices"]
    answer = served.http.post(f"/api/runs/{run_id}/resume", json={"decision": "approve"})
    assert answer.status_code == 200
    late = f"/api/runs/{run_id}/questions/{question['id']}"
    assert served.wait(run_id)["status"] == "achieved"
    assert served.http.post(late, json={"choice": "approve"}).status_code == 409

    run_id = served.start(second, put("still wrong"), put("right"), hitl_enabled=True)
    served.wait(run_id, "waiting")
    (question,) = served.http.get(f"/api/runs/{run_id}/questions").json()
    never = served.http.post(f"/api/runs/{run_id}/questions/nope", json={"choice": "approve"})
    assert (never.status_code, never.json()["error"]) == (404, "QuestionNotFound")
    there = f"/api/runs/{run_id}/questions/{question['id']}"
    assert served.http.post(there, json={"choice": "abort"}).json() == {"counts": True}
    assert served.wait(run_id)["status"] == "aborted"
    assert served.http.post(f"/api/runs/{run_id}/abort").status_code == 409
    nothing = served.http.post(f"/api/runs/{run_id}/resume", json={"decision": "approve"})
    assert (nothing.status_code, nothing.json()["error"]) == (409, "NoQuestion")


def test_a_run_that_used_up_its_limit_goes_on_with_another(served: Served) -> None:
    folder = served.project("limit")
    run_id = served.start(folder, put("no"), put("right"), max_iterations=1)
    assert served.wait(run_id)["status"] != "achieved"
    body = {"max_iterations": 5}
    resumed = served.http.post(f"/api/runs/{run_id}/resume", json=body)
    assert resumed.status_code == 200, resumed.text
    assert served.wait(run_id, "achieved")["max_iterations"] == 5
    again = served.http.post(f"/api/runs/{run_id}/resume", json=body)
    assert (again.status_code, again.json()["error"]) == (409, "Conflict")
    config = served.http.patch(f"/api/runs/{run_id}/config", json=body)
    assert (config.status_code, config.json()["error"]) == (409, "Conflict")


def test_settings_change_while_a_run_waits_and_abort_ends_it(served: Served) -> None:
    folder = served.project("change")
    run_id = served.start(folder, put("no"), put("no again"), hitl_enabled=True)
    served.wait(run_id, "waiting")
    changed = served.http.patch(f"/api/runs/{run_id}/config", json={"max_iterations": 7})
    assert changed.status_code == 200
    unknown = served.http.patch(f"/api/runs/{run_id}/config", json={"model_name": "nope"})
    assert (unknown.status_code, "nope" in unknown.json()["message"]) == (422, True)
    assert served.show(run_id)["model_name"] != "nope"
    with served.socket(f"/api/ws/{run_id}") as socket:
        for message in socket:
            event = json.loads(message)
            if event["kind"] == "log" and "max_iterations: 7" in event["payload"]["message"]:
                break
        assert served.http.post(f"/api/runs/{run_id}/abort").status_code == 200
        assert json.loads([*socket][-1])["kind"] == "run_end"
    assert served.wait(run_id)["status"] == "aborted"


def test_a_run_goes_on_with_no_model_that_nobody_knows(served: Served) -> None:
    run_id = served.start(served.project("unknown-model"), put("no"), max_iterations=1)
    served.wait(run_id)
    body = {"model_name": "nope", "max_iterations": 3}
    refused = served.http.post(f"/api/runs/{run_id}/resume", json=body)
    assert (refused.status_code, "nope" in refused.json()["message"]) == (422, True)
    assert served.show(run_id)["resumable"] is True


def test_undo_says_first_what_it_would_do(served: Served) -> None:
    folder = served.project("undo")
    run_id = served.start(folder, put("right"))
    served.wait(run_id)
    there = f"/api/runs/{run_id}/undo"
    assert served.http.post(there, json={"dry_run": True}).json()["restored"] == ["a.txt"]
    assert (folder / "a.txt").read_text() == "right"
    assert served.http.post(there).json()["restored"] == ["a.txt"]
    assert (folder / "a.txt").read_text() == "wrong"


def test_a_tool_calls_whole_result_can_be_had(served: Served) -> None:
    folder = served.project("calls")
    (folder / "long.txt").write_text("x" * 3000)
    read = call("file_read", path="long.txt")
    run_id = served.start(folder, read, put("right"), tools=["+file_read"])
    served.wait(run_id)
    events = served.http.get(f"/api/runs/{run_id}/events").json()
    result = next(event for event in events if event["kind"] == "tool_result")
    assert len(result["payload"]["content"]) == 500
    answer = served.http.get(f"/api/runs/{run_id}/calls/{result['payload']['id']}").json()
    assert answer["content"].count("x") == 3000
    assert served.http.get(f"/api/runs/{run_id}/calls/none").status_code == 404


def test_the_list_has_filters_and_pages(served: Served) -> None:
    folder = served.project("listed", "right")
    ids = [served.start(folder, labels={"batch": "7"}, task=f"number {n}") for n in range(3)]
    for run_id in ids:
        served.wait(run_id)
    query: dict[str, str | int] = {"project": str(folder), "limit": 2}
    page = served.http.get("/api/runs", params=query)
    assert [run["run_id"] for run in page.json()] == ids[:0:-1]
    following = page.links["next"]["url"]
    assert [run["run_id"] for run in served.http.get(following).json()] == ids[:1]
    assert "next" not in served.http.get(following).links
    found = served.http.get("/api/runs", params={"text": "number 1", "status": "achieved"}).json()
    assert [run["run_id"] for run in found] == [ids[1]]
    assert found[0]["labels"]["batch"] == "7"
    uuid = found[0]["project"]
    assert len(served.http.get("/api/runs", params={"project": uuid}).json()) == 3
    assert served.http.get("/api/runs", params={"status": "odd"}).status_code == 422


def test_two_runs_in_one_project_follow_each_other(served: Served) -> None:
    folder = served.project("both")
    first = served.start(folder, put("no"), put("right"), hitl_enabled=True)
    served.wait(first, "waiting")
    second = served.start(folder, put("right"))
    assert served.show(second)["status"] == "pending"
    served.http.post(f"/api/runs/{first}/abort")
    assert served.wait(second)["status"] == "achieved"
    assert served.show(first)["status"] == "aborted"


def test_a_project_that_another_program_works_in_is_named_and_the_run_not_lost(
    served: Served,
) -> None:
    folder = served.project("locked")
    with WorkspaceLock(folder, served.state, "elsewhere"):
        run_id = served.start(folder, put("right"))
        run = served.wait(run_id)
    assert run["status"] == "error"
    assert "elsewhere" in run["error"]
    assert run["resumable"] is False
    for path in ("events", "questions", "diff"):  # nothing of it is left
        answer = served.http.get(f"/api/runs/{run_id}/{path}")
        assert (answer.status_code, answer.json()["error"]) == (409, "NotBegun")
        assert "elsewhere" in answer.json()["message"]
    listed = served.http.get("/api/runs", params={"project": str(folder)}).json()
    assert [each["run_id"] for each in listed] == [run_id]
    assert served.http.get("/api/runs", params={"status": "achieved", "text": run_id}).json() == []


def test_a_run_that_cannot_begin_says_why(served: Served) -> None:
    folder = served.project("kept")
    wrong = served.http.post("/api/runs", json=request(folder, goal="pytset"))
    assert (wrong.status_code, wrong.json()["error"]) == (422, "UsageError")
    assert "pytest" in wrong.json()["message"] + wrong.json()["hint"]
    endless = request(folder, options={"timeout_s": 1})
    text = json.dumps(endless).replace('"timeout_s": 1', '"timeout_s": 1e999')
    refused = served.http.post(
        "/api/runs", content=text, headers={"Content-Type": "application/json"}
    )
    assert (refused.status_code, "`inf`" in refused.json()["message"]) == (422, True)
    nowhere = served.http.post("/api/runs", json=request("", put("right")))
    assert (nowhere.status_code, nowhere.json()["error"]) == (422, "UsageError")
    none = served.http.post("/api/runs", json=request(folder, max_iterations=0))
    assert "flag" not in none.json()["message"]
    odd = request(folder, self=1, folder=2)
    assert served.http.post("/api/runs", json=odd).status_code == 422
    named = served.http.post("/api/runs", json=request(folder, run_id="x"))
    assert named.status_code == 422


def test_a_status_change_reaches_every_list(served: Served) -> None:
    with served.socket("/api/ws") as socket:
        run_id = served.start(served.project("statuses"), put("right"))
        seen = []
        for message in socket:
            change = json.loads(message)
            assert change["kind"] == "status"
            if change["run_id"] == run_id:
                seen.append(change["status"])
            if "achieved" in seen:
                break


def test_the_models_text_comes_as_it_is_said(served: Served) -> None:
    folder = served.project("deltas")
    run_id = served.start(folder, say("first I look"), put("right"), hitl_enabled=True)
    with served.socket(f"/api/ws/{run_id}?deltas=1") as socket:
        served.wait(run_id, "waiting", "achieved")
        served.http.post(f"/api/runs/{run_id}/resume", json={"decision": "approve"})
        kinds = {json.loads(message)["kind"] for message in socket}
    assert kinds >= {"run_end", "llm_usage"}


def test_projects_are_registered_and_say_what_was_found(served: Served) -> None:
    folder = served.project("found")
    (folder / "test_a.py").write_text("def test_a():\n    assert True\n")
    (folder / "pytest.ini").write_text("[pytest]\n")
    made = served.http.post("/api/projects", json={"path": "found"})
    assert made.status_code == 201
    project = made.json()
    assert Path(project["path"]) == folder
    assert project["goals"][0]["name"] == "pytest"
    assert served.http.post("/api/projects", json={"path": str(folder)}).json() == project
    assert project["id"] in [each["id"] for each in served.http.get("/api/projects").json()]
    there = f"/api/projects/{project['id']}"
    assert served.http.get(there).json() == project
    options = served.http.get(f"{there}/goals/pytest/options").json()["options"]
    assert "targets" in options["properties"]
    assert served.http.get(f"{there}/goals/none/options").status_code == 422
    top = served.http.get("/api/projects/folders").json()
    assert str(folder) in top["folders"]
    assert top["parent"] is None
    inside = served.http.get("/api/projects/folders", params={"path": str(folder)}).json()
    assert inside["parent"] == top["path"]
    missing = "/api/projects/00000000-0000-0000-0000-000000000000"
    assert served.http.get(missing).json()["error"] == "ProjectNotFound"


def test_the_demo_runs_without_a_key(served: Served) -> None:
    made = served.http.post("/api/projects/demo").json()
    assert Path(made["path"]) == served.root / "retrai-demo"
    assert served.wait(made["run_id"])["status"] == "achieved"
    assert "/retrai-demo-2" in served.http.post("/api/projects/demo").json()["path"]


def test_lists_say_what_is_installed(served: Served) -> None:
    plugins = served.http.get("/api/plugins", params={"kind": "goal"}).json()
    assert "pytest" in [plugin["name"] for plugin in plugins]
    agents = served.http.get("/api/agents").json()
    loop = next(agent for agent in agents if agent["name"] == "goal-loop")
    assert "plan" in loop["nodes"]
    assert "offline" in [model["model"] for model in served.http.get("/api/models").json()]
    assert served.http.get("/api/memory").json() == []
    assert served.http.delete("/api/memory/none").status_code == 404
    settings = {one["name"]: one for one in served.http.get("/api/config").json()}
    assert settings["max_iterations"]["origin"] == "default"
    assert (settings["model"]["value"], settings["model"]["origin"]) == ("offline", "default")
    assert "cwd" not in settings


def test_a_receipt_can_be_had_and_verified(served: Served) -> None:
    run_id = served.start(served.project("receipt"), put("right"))
    served.wait(run_id)
    receipt = served.http.get(f"/api/runs/{run_id}/receipt").json()
    assert receipt["receipt"]["run"] == run_id
    verified = served.http.post(f"/api/runs/{run_id}/verify").json()
    assert verified["verified"] is True, verified
    failed = served.start(served.project("no-receipt"), max_iterations=1)
    served.wait(failed)
    answer = served.http.get(f"/api/runs/{failed}/receipt")
    assert (answer.status_code, set(answer.json())) == (404, ERROR)


def test_no_page_has_a_script_within_it(served: Served) -> None:
    for path in ("/", "/api/docs", "/login"):
        page = served.http.get(path)
        assert page.status_code == 200, path
        scripts = re.findall(r"<script[^>]*>", page.text)
        assert all(' src="/' in script for script in scripts)
        assert bool(scripts) is (path == "/")
    assert served.http.get("/api/none").json()["error"] == "NotFound"
