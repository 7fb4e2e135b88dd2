import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKernel } from "../../../src/kernel/index.ts";
import { loadConfig, openGateway } from "../../../src/server/gateway/index.ts";
import { openUpstream } from "./upstream.ts";

/** Code that one plain turn of a conversation runs. */
export interface TurnCoverage {
  readonly files: number;
  readonly functions: number;
  /** Functions run in each file, by its path below `src`. */
  readonly byFile: ReadonlyMap<string, readonly string[]>;
}

/** Turns before the measured one, so that everything is loaded, opened and known. */
const WARM_TURNS = 12;
/** Turns that are measured. Functions that run in each of them are on the way of a turn. */
const MEASURED_TURNS = 5;
const SOURCES = fileURLToPath(new URL("../../../src/", import.meta.url));

interface Message {
  readonly role: string;
  readonly content: string;
}

/** Counts the files and functions of `src` that one plain turn runs: default policy, nothing to edit, warm. */
export async function measureTurn(): Promise<TurnCoverage> {
  const folder = mkdtempSync(join(tmpdir(), "longhaul way "));
  const upstream = await openUpstream(() => ({
    status: 200,
    type: "application/json",
    chunks: [
      Buffer.from(
        JSON.stringify({
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "claude-sonnet-4-5",
          content: [{ type: "text", text: "The heron stands at the pond." }],
          stop_reason: "end_turn",
          usage: { input_tokens: 60, output_tokens: 8 },
        }),
      ),
    ],
  }));
  const { config } = loadConfig({
    cwd: folder,
    env: { LONGHAUL_UPSTREAM: upstream.url },
    flags: { port: "0" },
  });
  const kernel = await openKernel({ path: folder, embedder: null });
  const gateway = await openGateway({ kernel, config: () => config, log: () => undefined, env: {} });
  const messages: Message[] = [];
  const turn = async (count: number) => {
    messages.push({ role: "user", content: `Question ${count}: where is the heron?` });
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "key" },
      body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 100, messages }),
    });
    const { content } = (await response.json()) as { readonly content: readonly { readonly text: string }[] };
    if (response.status !== 200) throw new Error(`The turn ended with status ${response.status}.`);
    messages.push({ role: "assistant", content: content[0]?.text ?? "" });
  };
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    for (let count = 0; count < WARM_TURNS; count++) await turn(count);
    await takeFunctions(session);
    let common: ReadonlySet<string> | undefined;
    for (let count = 0; count < MEASURED_TURNS; count++) {
      await turn(WARM_TURNS + count);
      // The last steps of a request follow the end of its reply.
      await new Promise((resolve) => setTimeout(resolve, 50));
      const run = await takeFunctions(session);
      common = common ? new Set([...common].filter((name) => run.has(name))) : run;
    }
    return toCoverage(common ?? new Set());
  } finally {
    session.disconnect();
    await gateway.close();
    await kernel.close();
    upstream.close();
    rmSync(folder, { recursive: true });
  }
}

/** Names of the functions of `src` that ran since the last call. */
async function takeFunctions(session: Session): Promise<ReadonlySet<string>> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const names = new Set<string>();
  for (const { url, functions } of result) {
    const path = url.startsWith("file:") ? fileURLToPath(url) : "";
    if (!path.startsWith(SOURCES)) continue;
    for (const { functionName, ranges } of functions) {
      const [whole] = ranges;
      // The function of the module itself runs when the file is loaded.
      if (!whole || whole.count === 0 || (functionName === "" && whole.startOffset === 0)) continue;
      names.add(`${path.slice(SOURCES.length)} ${functionName}@${whole.startOffset}`);
    }
  }
  return names;
}

function toCoverage(names: ReadonlySet<string>): TurnCoverage {
  const byFile = new Map<string, string[]>();
  for (const name of [...names].toSorted()) {
    const path = name.slice(0, name.indexOf(" "));
    const own = name.slice(path.length + 1);
    byFile.set(path, [...(byFile.get(path) ?? []), own.slice(0, own.lastIndexOf("@"))]);
  }
  return { files: byFile.size, functions: names.size, byFile };
}

if (import.meta.main) {
  const { files, functions, byFile } = await measureTurn();
  if (process.argv.includes("--json")) console.log(JSON.stringify({ files, functions }));
  else {
    for (const [path, own] of byFile)
      console.log(`${path}: ${own.map((name) => name || "(arrow)").join(", ")}`);
    console.log(`One plain turn, warm: ${files} files, ${functions} functions of src.`);
  }
}
