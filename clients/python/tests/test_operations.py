"""Tests of the methods for the gateway itself: agents, memories, index, jobs, health and tasks."""

import asyncio
import inspect
import os
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from longhaul import AsyncLonghaul, Longhaul, LonghaulError  # noqa: E402

#: A task of the gateway that has ended.
TASK = os.environ.get("LONGHAUL_TEST_TASK")


def names_of(client):
    return {name for name, _ in inspect.getmembers(client, inspect.isfunction) if not name.startswith("_")}


class OperationsTest(unittest.TestCase):
    def setUp(self):
        self.client = Longhaul()
        self.mark = str(uuid.uuid4())

    def tearDown(self):
        self.client.close()

    def test_both_clients_have_the_same_methods(self):
        self.assertEqual(names_of(Longhaul), names_of(AsyncLonghaul))

    def test_an_agent_is_connected_and_disconnected_after_a_preview(self):
        client = self.client

        def state():
            return next(one for one in client.agents() if one["name"] == "claude-code")["gateway"]["state"]

        self.assertEqual(state(), "absent")
        preview = client.connect_agent("claude-code")
        self.assertFalse(preview["isApplied"])
        self.assertTrue(any(line["mark"] == "+" for line in preview["files"][0]["diff"]))
        self.assertEqual(state(), "absent")
        self.assertTrue(client.connect_agent("claude-code", confirm=preview["confirm"])["isApplied"])
        self.assertEqual(state(), "connected")
        undo = client.disconnect_agent("claude-code")
        self.assertTrue(client.disconnect_agent("claude-code", confirm=undo["confirm"])["isApplied"])
        self.assertEqual(state(), "absent")
        with self.assertRaises(LonghaulError) as failure:
            client.connect_agent("claude-code", confirm=preview["confirm"][::-1])
        self.assertEqual(failure.exception.status, 409)

    def test_memories_are_moved_and_reviewed(self):
        client = self.client
        first, second = (client.remember(f"Pier {number} of {self.mark} is open.", by="agent") for number in (1, 2))
        ids = [one["id"] for one in client.memories()]
        self.assertLess(ids.index(second["id"]), ids.index(first["id"]))
        client.move_memory(first["id"], above=second["id"])
        ids = [one["id"] for one in client.memories()]
        self.assertEqual(ids.index(first["id"]) + 1, ids.index(second["id"]))
        self.assertEqual(client.review_memory(first["id"], "accepted")["trust"], "user")
        self.assertGreaterEqual(sum(one["unreviewed"] for one in client.memory_agents()), 1)
        for memory in (first, second):
            client.forget_memory(memory["id"])

    def test_the_index_is_brought_up_to_date_and_listed(self):
        client, session = self.client, f"python/{self.mark}"
        client.create_session(session)
        client.append(session, [{"role": "user", "text": f"The harbor of {self.mark} is full."}])
        job = client.wait_for_job(client.start_indexing()["id"], timeout=60)
        self.assertEqual((job["type"], job["state"]), ("index", "done"))
        self.assertIn(job["id"], [one["id"] for one in client.jobs()])
        index = client.index()
        self.assertEqual(index["unindexed"], 0)
        names = [source["name"] for source in client.index_sources(kind="session", page=1)]
        self.assertIn(session, names)
        self.assertEqual(len(names), len(set(names)))

    def test_memory_of_the_gateway_is_measured_and_freed(self):
        history = self.client.health_history(since=0)
        self.assertGreater(history["criticalBytes"], history["warningBytes"])
        self.assertLessEqual(self.client.relieve()["cacheBytesAfter"], 1_000_000)

    def test_a_person_is_erased_after_a_preview(self):
        with self.assertRaises(LonghaulError) as failure:
            self.client.erase_person("nobody of this gateway")
        self.assertEqual(failure.exception.code, "PERSON_NOT_FOUND")
        name = self.mark[:8]
        session = f"@{name}/talk"
        self.client.create_session(session)
        self.client.append(session, [{"role": "user", "text": "Erase me."}])
        preview = self.client.erase_person(name)
        self.assertFalse(preview["isErased"])
        self.assertEqual((preview["counts"]["sessions"], preview["certificate"]), (1, None))
        erased = self.client.erase_person(name, confirm=preview["confirm"])
        self.assertEqual(erased["certificate"]["removed"], erased["counts"])
        self.assertIn(erased["certificate"]["digest"], erased["text"])
        again = self.client.erase_person(name, confirm=preview["confirm"])
        self.assertEqual(again["certificate"], erased["certificate"])

    @unittest.skipUnless(TASK, "LONGHAUL_TEST_TASK names no task")
    def test_a_task_shows_its_history_and_its_notice(self):
        task = self.client.task(TASK)
        self.assertEqual([move["to"] for move in task["moves"]], ["queued", "running", "completed"])
        self.assertTrue(task["worktree"]["branch"])
        self.assertIn(task["worktree"]["branch"].rsplit("/", 1)[-1], task["worktree"]["path"])
        self.assertIn(TASK, [notice["task"] for notice in self.client.notices(page=1)])

    def test_the_asynchronous_client_does_the_same(self):
        async def work():
            async with AsyncLonghaul() as client:
                session = f"python/{self.mark}"
                await client.create_session(session)
                await client.append(session, [{"role": "user", "text": text} for text in ("one", "two", "three")])
                self.assertEqual([entry["seq"] async for entry in client.entries(session, page=2)], [1, 2, 3])
                job = await client.wait_for_job((await client.start_indexing())["id"], timeout=60)
                self.assertEqual((await client.job(job["id"]))["state"], "done")
                sources = [source["name"] async for source in client.index_sources(page=2)]
                self.assertIn(session, sources)
                self.assertEqual((await client.index())["unindexed"], 0)
                preview = await client.connect_agent("claude-code", way="mcp")
                self.assertFalse(preview["isApplied"])
                self.assertTrue(await client.agents())
                memory = await client.remember(f"The pier of {self.mark} is closed.")
                self.assertEqual((await client.move_memory(memory["id"]))["id"], memory["id"])
                self.assertTrue(await client.memory_agents())
                self.assertTrue((await client.forget_memory(memory["id"]))["isForgotten"])
                self.assertIn("points", await client.health_history())
                self.assertIn("caches", await client.relieve())
                with self.assertRaises(LonghaulError):
                    await client.erase_person("nobody of this gateway")
                notices = [notice["task"] async for notice in client.notices()]
                if TASK:
                    self.assertIn(TASK, notices)
                    self.assertEqual((await client.task(TASK))["state"], "completed")
                await client.forget_session(session)
                with self.assertRaises(LonghaulError):
                    await client.session(session)

        asyncio.run(work())


if __name__ == "__main__":
    unittest.main()
