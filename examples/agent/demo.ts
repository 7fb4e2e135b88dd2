// A job that needs no API key: a folder with a bug in it, and a scripted model.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { scriptedModel } from "../local/model.ts";

/** A model, a folder, and a job to do there. */
export interface Demo extends AsyncDisposable {
  readonly model: LanguageModelV4;
  readonly folder: string;
  readonly job: string;
  summary(): string;
}

const CHECK = `import { total } from "./total.mjs";
if (total([1, 2, 3]) !== 6) throw new Error("total([1, 2, 3]) is " + total([1, 2, 3]) + ", not 6");
console.log("all is well");
`;
const TOTAL = "export const total = (numbers) => numbers.reduce((sum, number) => sum - number, 0);\n";

/** The model's replies, step by step; the helper is recognized by its instructions. */
function stepsOf(check: string) {
  let calls = 0;
  const call = (name: string, input: object, text?: string) => ({
    ...(text !== undefined && { text }),
    toolCalls: [{ id: `call_${++calls}`, name, input }],
  });
  return {
    coder: [
      call("run", { command: check }, "First I see how it fails."),
      call("search", { text: "total" }),
      call("read", { path: "total.mjs" }),
      call("edit", { path: "total.mjs", old: "sum - number", new: "sum + number" }, "A wrong sign."),
      call("run", { command: check }),
      call("save_memory", { text: `The check of this folder is run by: ${check}` }),
      call("start_task", { agent: "", instructions: "Look for other mistakes in total.mjs." }),
    ],
    helper: [call("read", { path: "total.mjs" }), { text: "There are no other mistakes in total.mjs." }],
    waiting: { text: "I wait for the helper." },
    last: {
      text: "The sign in total.mjs was wrong; the check passes now, and the helper found nothing else.",
    },
  };
}

/** Creates the folder and the model; disposal removes both. */
export async function startDemo(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), "longhaul-example-"));
  writeFileSync(join(folder, "total.mjs"), TOTAL);
  writeFileSync(join(folder, "check.mjs"), CHECK);
  const { coder, helper, waiting, last } = stepsOf(`"${process.execPath}" check.mjs`);
  const scripted = await scriptedModel((request) => {
    const hasNotice = request.includes("Notice, not written by the user");
    const next =
      (request.includes("You are the helper") ? helper : coder).shift() ?? (hasNotice ? last : waiting);
    const name = /helper-[0-9a-f]{8}/.exec(request)?.[0] ?? "";
    return JSON.parse(JSON.stringify(next).replace('"agent":""', `"agent":"${name}"`));
  });
  return {
    model: scripted.model,
    folder,
    job: "node check.mjs fails; find out why and mend it.",
    summary: () => `total.mjs is now: ${readFileSync(join(folder, "total.mjs"), "utf8").trim()}`,
    async [Symbol.asyncDispose]() {
      await scripted[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
