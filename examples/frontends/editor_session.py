"""An editor's session: JSON lines on standard input and output, one request or notice each.

    {"id": 1, "method": "session/new", "params": {"project": DIR, "goal": "pytest"}}
    {"id": 2, "method": "session/prompt", "params": {"session": ID, "task": "fix it"}}

While a prompt goes on, the editor gets `session/update` notices. It is asked for permission by
requests of ours (`session/permission`), which it answers by id: `{"choice": "approve_always"}`.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

from retrai_core import RetraiError, RunManager, TrustRequired

Send = Callable[[dict[str, Any]], None]


class EditorSessions:
    """The sessions of one editor; each prompt is a run, which continues the one before.

    Args:
        manager: drives the runs.
        send: sends a message to the editor.
    """

    def __init__(self, manager: RunManager, send: Send) -> None:
        self._manager = manager
        self._send = send
        self._settings: dict[str, dict[str, Any]] = {}
        self._runs: dict[str, str] = {}
        self._permissions: dict[str, dict[str, Any]] = {}

    async def hear(self, message: dict[str, Any]) -> None:
        """Do what one message asks for, and answer it."""
        if "method" not in message:  # the answer to a permission that we asked for
            await self._permit(message["id"], message.get("result", {}))
            return
        methods = {
            "session/new": self._new,
            "session/load": self._load,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel,
        }
        try:
            handler = methods[message["method"]]
            reply = {"result": await handler(**message.get("params", {}))}
        except TrustRequired as error:
            reply = {"error": {"message": error.message, "trust": error.digest}}
        except (RetraiError, KeyError, TypeError) as error:  # a setting, or a message, is wrong
            reply = {"error": {"message": str(error)}}
        if "id" in message:
            self._send({"id": message["id"], **reply})

    async def _new(self, project: str, **settings: Any) -> dict[str, Any]:
        request = await self._manager.prepare(project, interactive=True, **settings)
        self._settings[request.run_id] = {"project": project, **settings}
        return {"session": request.run_id}

    async def _load(self, session: str, project: str, **settings: Any) -> dict[str, Any]:
        """Take a session up again after a restart: the editor is told all that has happened."""
        self._settings[session] = {"project": project, **settings}
        runs = await self._manager.list(labels={"session": session})
        for record in reversed(runs):
            self._runs[session] = record.id
            await self._tell(session, record.id)
        return {"status": runs[0].status if runs else ""}

    async def _prompt(self, session: str, task: str) -> dict[str, Any]:
        request = await self._manager.prepare(
            **self._settings[session],
            task=task,
            labels={"session": session},
            continues=self._runs.get(session),
            interactive=True,
        )
        run = await self._manager.submit(request)
        self._runs[session] = run.id
        await self._tell(session, run.id)
        return {"status": (await run.result()).status}

    async def _cancel(self, session: str) -> dict[str, Any]:
        return {"cancelled": await (await self._manager.get(self._runs[session])).cancel()}

    async def _tell(self, session: str, run_id: str) -> None:
        run = await self._manager.get(run_id)
        async for event in run.events():
            note = {"session": session, "seq": event.seq, "kind": event.kind, **event.payload}
            self._send({"method": "session/update", "params": note})
            question = event.payload.get("question", {})
            if question and question["id"] in {each.id for each in await run.questions()}:
                permission = f"{run_id}/{question['id']}"
                self._permissions[permission] = {"session": session, "question": question}
                self._ask(permission)

    def _ask(self, permission: str) -> None:
        params = self._permissions[permission]
        self._send({"id": permission, "method": "session/permission", "params": params})

    async def _permit(self, permission: str, answer: dict[str, Any]) -> None:
        """Give the editor's answer to the run; after one that means nothing it is asked again."""
        if permission not in self._permissions:
            return
        question = self._permissions[permission]["question"]
        try:
            run = await self._manager.get(question["run_id"])
            await run.answer(question["id"], **answer)
        except (RetraiError, TypeError):
            self._ask(permission)
        else:
            del self._permissions[permission]


async def main() -> None:
    """Serve the editor that started this program."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()
    async with RunManager() as manager:
        sessions = EditorSessions(manager, lambda message: print(json.dumps(message), flush=True))
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            task = asyncio.create_task(sessions.hear(json.loads(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


if __name__ == "__main__":
    asyncio.run(main())
