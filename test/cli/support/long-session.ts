import { type Kernel, openKernel, type Session } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";

/** The model of the generated sessions. */
export const MODEL = "claude-sonnet-4-5";

/** Creates a store on disk with one session; returns its folder. */
export async function storeWith(
  id: string,
  fill: (session: Session, kernel: Kernel) => Promise<unknown>,
): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  await using session = await kernel.session(id);
  await fill(session, kernel);
  return path;
}

/** Appends turns that name one file each: more than a small window holds. */
export async function talk(session: Session, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    const name = `src/part-${turn}/reader.ts`;
    await session.append({
      role: "user",
      text: `Look at ${name}.\n${`line of question ${turn}\n`.repeat(60)}`,
    });
    await session.append({
      role: "assistant",
      model: MODEL,
      text: `In ${name} there is readPart${turn}.\n${`line of answer ${turn}\n`.repeat(60)}`,
    });
  }
}

/** A store with a session "long" whose window was cut for a reported call; also returns the overlay. */
export async function storeWithCut(): Promise<{ readonly store: string; readonly overlay: number }> {
  let overlay = 0;
  const store = await storeWith("long", async (session) => {
    await talk(session, 60);
    await session.append({ role: "user", text: "And now?" });
    const window = session.window({ model: MODEL, models: { "*": { window: 20_000 } } });
    const fitted = await window.fit();
    overlay = fitted.plan?.overlay ?? 0;
    await window.report({ inputTokens: fitted.tokens, outputTokens: 100 }, { request: "request-1" });
  });
  return { store, overlay };
}
