// The smallest example: open a kernel, append to a session, read its newest page, scroll up, close. With LONGHAUL_HOME
// set, the conversation is kept in that folder and continues in the next run.
import { openKernel, type Page } from "longhaul";

await using kernel = await openKernel({ path: process.env.LONGHAUL_HOME ?? ":memory:" });
const session = await kernel.session("first-chat", { title: "A first chat" });
await session.append({ role: "user", text: "Which mountain is the highest?" });
await session.append({ role: "assistant", text: "Mount Everest, 8,849 m." });
await session.append({ role: "user", text: "And the second?" });
await session.append({ role: "assistant", text: "K2, 8,611 m." });

const newest = await session.page({ limit: 2 });
print("newest page", newest);
if (newest.before) print("scrolled up", await session.page({ limit: 2, before: newest.before }));

function print(title: string, { entries }: Page): void {
  console.log(`${title}:`);
  for (const entry of entries) {
    const [part] = entry.kind === "message" ? entry.message.parts : [];
    if (part?.type === "text") console.log(`  ${entry.seq}  ${part.text}`);
  }
}
