import { afterEach, expect, test, vi } from "vitest";
import { WorkHistory } from "../../../src/kernel/calls/work-history.ts";
import type { PartInput } from "../../../src/model/part.ts";
import { testKernel } from "../../support/kernel.ts";

afterEach(() => vi.restoreAllMocks());

const ERROR = "src/login.ts(41,7): error TS2304: Cannot find name 'sessionToken'.";
const RUN = { command: "npx tsc --noEmit" };

/** A conversation in which an error was ended, and questions about it in one process. */
async function historyWithFix() {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const session = await kernel.session("a");
  const act = async (
    name: string,
    input: Extract<PartInput, { type: "tool-call" }>["input"],
    output: string,
  ) => {
    const callId = `call-${name}-${output}`;
    const call = await session.append({
      role: "assistant",
      parts: [{ type: "tool-call", callId, name, input }],
    });
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId, output }] });
    return call.seq;
  };
  await session.append({ role: "user", text: "Please make the login work." });
  await act("Bash", RUN, ERROR);
  const edit = await act("Edit", { file_path: "/shop/src/login.ts", old_string: "a", new_string: "b" }, "ok");
  await act("Bash", RUN, "Done.");
  const work = new WorkHistory(kernel);
  const files = async () =>
    (await work.fix(ERROR, { sessions: ["a"] })).flatMap(({ step }) => step.paths as readonly string[]);
  return { kernel, session, edit, files };
}

test("an erased edit is not the fix of an error any more, although the work was read before", async () => {
  const { session, edit, files } = await historyWithFix();
  expect(await files()).toEqual(["/shop/src/login.ts"]);
  await session.redact(edit);
  expect(await files()).toEqual([]);
});

test("the work of a deleted conversation is gone at once", async () => {
  const { kernel, files } = await historyWithFix();
  expect(await files()).toHaveLength(1);
  await kernel.deleteSession("a");
  expect(await files()).toEqual([]);
});

test("work that was taken back is looked at again, although no message followed", async () => {
  const { session, edit, files } = await historyWithFix();
  expect(await files()).toHaveLength(1);
  await session.rewind(edit - 1);
  const now = performance.now();
  vi.spyOn(performance, "now").mockReturnValue(now + 60_000);
  expect(await files()).toEqual([]);
});
