// Memory: an agent remembers, recalls messages from another conversation weeks ago, and forgets for good.
import { openKernel } from "longhaul";

await using kernel = await openKernel({ path: process.env.LONGHAUL_HOME ?? ":memory:" });

const chat = await kernel.session("team/monday");
await chat.append({ role: "user", text: "Where do I find the new build?" });
await chat.append({ role: "assistant", text: "The staging server listens on port 7781, behind the proxy." });
const other = await kernel.session("team/friday");
await other.append({ role: "user", text: "我们决定数据库迁移在周五进行。" });

for (const question of ["port of the staging server", "数据库什么时候迁移"]) {
  const { hits } = await kernel.memory.recall(question, { k: 1 });
  for (const hit of hits)
    console.log(`${question} → ${hit.kind === "session" ? hit.entry : hit.path}: ${hit.text}`);
}

const memories = kernel.memories("support");
await memories.remember("Answer in German.", { by: "user" });
for (let day = 1; day <= 12; day++) await memories.remember(`Build ${day} was green.`, { by: "agent" });
console.log(`pins: ${(await memories.pins()).map(({ text }) => text).join(" ")}`);

const [older] = (await kernel.memory.recall("Was build 1 green?", { k: 1 })).hits;
console.log(`no pin any more, and still found: ${older?.text}`);
const [wish] = (await kernel.memory.recall("In which language do I want answers? German", { k: 1 })).hits;
if (wish?.kind === "session") await memories.forget(wish.entry);
const left = (await kernel.memory.recall("German")).hits.filter(({ text }) => text.includes("German"));
console.log(`after forgetting it: ${left.length} found`);
