import { openKernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";

/** A one-pixel PNG. */
export const PNG = Buffer.from(PIXEL_PNG, "base64");

/** A store on disk with one conversation that contains every kind of content; returns its folder. */
export async function storeWithTicket(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  const session = await kernel.session("ticket-4711", { title: "Fix the flaky test" });
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join("\n");
  await session.append({ role: "system", text: "Be thorough." });
  await session.append({ role: "user", text: "Why does it fail?" });
  await session.append({
    role: "assistant",
    model: "model-1",
    parts: [
      { type: "reasoning", text: "Perhaps the clock." },
      { type: "text", text: "I look at it." },
      { type: "tool-call", callId: "1", name: "read_file", input: { limit: 20, path: "login.test.ts" } },
    ],
  });
  await session.append({ role: "tool", parts: [{ type: "tool-result", callId: "1", output: lines }] });
  await session.append({ role: "user", parts: [{ type: "data", data: PNG, name: "screen.png" }] });
  await session.note("The window was compacted.");
  await session.append({ role: "assistant", text: "It waits for a server." });
  const child = await session.child({ id: "ticket-4711/explorer", title: "Look around" });
  await child.append({ role: "user", text: "Where is the server?" });
  return path;
}
