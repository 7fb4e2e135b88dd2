import { expect, test } from "vitest";
import { testKernel } from "../../support/kernel.ts";

test.each([
  "The `reasoning_content` in the thinking mode must be passed back to the API.",
  "Missing `reasoning_content` field in the assistant message at message index 1",
  "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
])(
  "after %j, the reasoning that an edit had taken from a reply stands in it again, also later",
  async (message) => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "Read it." });
    const thought = { type: "reasoning", text: "Hm." } as const;
    const said = { type: "text", text: "It is empty." } as const;
    const reply = await session.append({ role: "assistant", parts: [thought, said] });
    await session.append({ role: "user", text: "And now?" });
    await session.overlays.add({ type: "replace", target: { seq: reply.seq }, parts: [said] }, "by hand");
    const window = session.window({ model: "deepseek-v4-pro" });
    const partsOf = (messages: readonly { readonly parts: unknown }[]) => messages[1]?.parts;
    expect(partsOf((await window.fit()).messages)).toEqual([said]);
    const healed = await window.heal({ status: 400, body: { error: { message } } });
    expect(healed && partsOf(healed.messages)).toEqual([thought, said]);
    const fresh = session.window({ model: "deepseek-v4-pro" });
    expect(partsOf((await fresh.fit()).messages)).toEqual([thought, said]);
  },
);
