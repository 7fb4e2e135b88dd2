"""Tests against a running gateway, whose address is in LONGHAUL_URL: python3 -m unittest, from the folder above."""

import asyncio
import itertools
import sys
import unittest
import uuid
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
# Last, so that installed packages are used instead of their stand-ins.
sys.path.append(str(HERE / "stand_ins"))

from longhaul import AsyncLonghaul, Longhaul, LonghaulError, session_headers  # noqa: E402

LONG = "The harbor master writes down every ship with its berth. " * 80


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.client = Longhaul()
        self.session = f"python/{uuid.uuid4()}"

    def tearDown(self):
        self.client.close()

    def test_a_conversation_is_stored_fitted_and_recalled(self):
        client, session = self.client, self.session
        self.assertEqual(client.health()["status"], "ok")
        client.create_session(session, title="Harbor")
        said = [{"role": ["user", "assistant"][at % 2], "text": f"{at}: {LONG}"} for at in range(12)]
        entries = client.append(session, said, key="first")
        again = client.append(session, said, key="first")
        self.assertEqual([entry["seq"] for entry in entries], [entry["seq"] for entry in again])
        self.assertEqual(client.session(session)["entries"], 12)
        self.assertEqual(len(list(client.entries(session, page=5))), 12)
        newest = next(iter(client.entries(session, newest_first=True)))
        self.assertEqual(newest["seq"], 12)
        fitted = client.fit(session, model="claude-sonnet-4-5", format="anthropic", window=8_000)
        self.assertLess(fitted["tokens"], 8_000)
        self.assertEqual(fitted["messages"][0]["role"], "user")
        client.report_usage(session, {"inputTokens": 900, "outputTokens": 20}, model="claude-sonnet-4-5")
        self.assertGreater(client.usage(session=session)["total"]["cost"], 0)
        self.assertFalse(client.compact(session)["isChanged"])
        found = client.recall("harbor master", sessions=[session])
        self.assertEqual(found["hits"][0]["session"], session)
        self.assertTrue(client.expand(found["hits"][0]["entry"]))
        self.assertIn(session, [one["id"] for one in client.sessions(prefix="python/")])
        tail = list(itertools.islice(client.tail(session, after=10), 2))
        self.assertEqual([entry["seq"] for entry in tail], [11, 12])
        client.forget_session(session)
        with self.assertRaises(LonghaulError) as failure:
            client.session(session)
        self.assertEqual((failure.exception.status, failure.exception.code), (404, "SESSION_NOT_FOUND"))
        self.assertTrue(failure.exception.remedy)

    def test_messages_are_fitted_without_a_session(self):
        messages = [{"role": ["user", "assistant"][at % 2], "content": f"{at}: {LONG}"} for at in range(20)]
        fitted = self.client.fit_messages(messages, model="gpt-5", window=8_000)
        self.assertEqual(fitted["format"], "openai-chat")
        self.assertTrue(fitted["receipt"]["isChanged"])
        self.assertEqual(fitted["messages"][-1], messages[-1])

    def test_memories_are_kept_and_forgotten(self):
        memory = self.client.remember(f"The pier {self.session} is closed.", by="agent")
        self.assertIn(memory["id"], [one["id"] for one in self.client.memories()])
        self.assertTrue(self.client.forget_memory(memory["id"])["isForgotten"])

    def test_headers_name_the_conversation(self):
        self.assertEqual(session_headers("ticket-1"), {"x-longhaul-session": "ticket-1"})
        with self.assertRaises(ValueError):
            session_headers("a\nb")

    def test_the_asynchronous_client_does_the_same(self):
        async def work():
            async with AsyncLonghaul() as client:
                await client.create_session(self.session)
                await client.append(self.session, [{"role": "user", "content": "Hello."}], format="openai-chat")
                self.assertEqual((await client.messages(self.session, format="openai-chat"))[0]["content"], "Hello.")
                async for entry in client.tail(self.session, after=0):
                    self.assertEqual(entry["seq"], 1)
                    break
                ids = [one["id"] async for one in client.sessions(prefix=self.session)]
                self.assertEqual(ids, [self.session])

        asyncio.run(work())


class AgentsTest(unittest.TestCase):
    def test_a_session_of_the_agents_sdk_gives_back_what_it_got(self):
        from longhaul.openai_agents import LonghaulSession

        items = [
            {"role": "user", "content": "Count the ships."},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look."}]},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "count", "arguments": '{ "pier": 4 }'},
            {"type": "function_call_output", "call_id": "c1", "output": "7" * 100_000},
            {"type": "message", "id": "m1", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": "Seven.", "annotations": []}]},
        ]

        async def work():
            async with AsyncLonghaul() as client:
                session = LonghaulSession(f"agents/{uuid.uuid4()}", client)
                self.assertEqual(await session.get_items(), [])
                await session.add_items(items)
                self.assertEqual(await session.get_items(), items)
                self.assertEqual(await session.get_items(2), items[-2:])
                self.assertEqual(await session.pop_item(), items[-1])
                self.assertEqual(await session.get_items(), items[:-1])
                await session.add_items(items[-1:])
                self.assertEqual(await session.get_items(), items)
                await session.clear_session()
                self.assertEqual(await session.get_items(), [])
                self.assertIsNone(await session.pop_item())
                await session.add_items(items[:1])
                self.assertEqual(await session.get_items(), items[:1])

        asyncio.run(work())


class StoreTest(unittest.TestCase):
    def test_a_store_of_langgraph_keeps_finds_and_deletes_items(self):
        from longhaul.langgraph import LonghaulStore

        async def get_asynchronously(store, namespace, key):
            return await store.aget(namespace, key)

        with Longhaul() as client:
            store = LonghaulStore(client, AsyncLonghaul(), prefix=f"store-{uuid.uuid4()}")
            harbor, office = ("harbor", "pier/4"), ("office",)
            self.assertIsNone(store.get(harbor, "crane"))
            store.put(harbor, "crane", {"state": "broken", "tons": 40})
            store.put(harbor, "crane", {"state": "repaired", "tons": 40})
            store.put(harbor, "lamp", {"state": "green", "tons": 1}, index=["state"])
            store.put(office, "tea", {"state": "cold"})
            crane = store.get(harbor, "crane")
            self.assertEqual(crane.value, {"state": "repaired", "tons": 40})
            self.assertEqual(crane.namespace, harbor)
            self.assertLessEqual(crane.created_at, crane.updated_at)
            self.assertEqual({item.key for item in store.search(("harbor",))}, {"crane", "lamp"})
            heavy = store.search(("harbor",), filter={"tons": {"$gt": 10}})
            self.assertEqual([item.key for item in heavy], ["crane"])
            found = store.search((), query="repaired crane")
            self.assertEqual((found[0].key, found[0].value["state"]), ("crane", "repaired"))
            self.assertNotIn("broken", [item.value["state"] for item in store.search((), query="broken crane")])
            self.assertEqual(store.list_namespaces(), [harbor, office])
            self.assertEqual(store.list_namespaces(max_depth=1), [("harbor",), ("office",)])
            self.assertEqual(store.list_namespaces(suffix=("office",)), [office])
            store.delete(harbor, "crane")
            self.assertIsNone(store.get(harbor, "crane"))
            self.assertEqual([item.key for item in store.search(harbor)], ["lamp"])
            self.assertEqual(asyncio.run(get_asynchronously(store, harbor, "lamp")).value["state"], "green")


if __name__ == "__main__":
    unittest.main()
