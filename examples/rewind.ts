// Lines: rewinding, editing and replacing select other ranges of the log and delete nothing, so that all can be undone.
// A fork continues from a point of this conversation without copying it.
import { openKernel, type Session } from "longhaul";

await using kernel = await openKernel({ path: process.env.LONGHAUL_HOME ?? ":memory:" });
const session = await kernel.session();
const question = await session.append({ role: "user", text: "Plan a trip to Rome" });
const plan = await session.append({ role: "assistant", text: "By train, three days" });
await session.append({ role: "user", text: "Book it" });
await session.append({ role: "assistant", text: "Booked" });
await print("as it was said", session);

await session.rewind(plan.seq);
await print("rewound to the plan", session);

await session.edit(question.seq, { role: "user", text: "Plan a trip to Oslo" });
await session.append({ role: "assistant", text: "By ship, five days" });
await print("edited and run again", session);

const lines = await session.lines();
console.log("\nlines, newest first:");
for (const { seq, reason, isActive } of lines)
  console.log(`  ${seq} ${reason}${isActive ? " (active)" : ""}`);
const start = lines.at(-1);
if (start) await session.choose(start.seq);
await print("\nundone: the first line again", session);

await session.replace(plan.seq, { role: "assistant", text: "By night train, four days" });
await print("the plan replaced, the rest kept", session);

const fork = await session.fork({ at: question.seq, title: "What if we flew?" });
await fork.append({ role: "assistant", text: "By plane, two days" });
await print("a fork after the question", fork);
await print("the original, untouched", session);

async function print(title: string, line: Session): Promise<void> {
  const { entries } = await line.page();
  const said = entries.flatMap((entry) => (entry.kind === "message" ? entry.message.parts : []));
  console.log(`${title}:\n  ${said.map((part) => (part.type === "text" ? part.text : "")).join(" → ")}`);
}
