// A small coding agent: reads, edits, runs and searches in a folder, remembers, and starts helpers in the background.
//
//   node examples/agent.ts "fix the failing test"        one job, then it ends
//   node examples/agent.ts                               a conversation, line by line
//   --folder ../app  --session fix-42  --model ollama/qwen3:8b
//
// The environment selects the provider: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY,
// OPENAI_COMPATIBLE_BASE_URL, OLLAMA_HOST. Without any, a scripted model does a small job in a temporary
// folder. The conversation is a session: started again with the same --session it continues, even after a crash
// in the middle of a step.
import { realpathSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type Kernel, openKernel, type TaskHandle } from "longhaul";
import { coderFor } from "./agent/coder.ts";
import { chosenModel } from "./agent/model.ts";
import { showCosts, showEntry } from "./agent/show.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string" }, session: { type: "string" }, model: { type: "string" } },
});

const model = chosenModel(values.model);
if (model) {
  await using kernel = await openKernel();
  await work(kernel, model, values.folder ?? process.cwd(), positionals.join(" "));
} else {
  const { startDemo } = await import("./agent/demo.ts");
  await using demo = await startDemo();
  console.log("There is no key in the environment: a scripted model shows how it goes.");
  await using kernel = await openKernel({ path: ":memory:" });
  await work(kernel, demo.model, demo.folder, demo.job);
  console.log(demo.summary());
}

async function work(kernel: Kernel, model: LanguageModelV4, given: string, job: string): Promise<void> {
  const folder = realpathSync(given);
  const session = await kernel.session(values.session, { title: job.slice(0, 80) || "A conversation" });
  const { coder, helper } = coderFor({ kernel, model, folder });
  kernel.tasks.register(helper);
  kernel.tasks.register(coder);
  console.log(`${model.modelId} in ${folder}; session ${session.id}`);

  // Ctrl-C ends the running task with its processes, then this process; a second one does not wait.
  const stop = new AbortController();
  const onInterrupt = () => (stop.signal.aborted ? process.exit(130) : stop.abort());
  process.on("SIGINT", onInterrupt);

  await kernel.tasks.recover();
  for (const { id } of await kernel.tasks.list({ session: session.id, states: ["queued", "running"] })) {
    console.log("A job that was cut off goes on:");
    await follow(await kernel.tasks.handle(id), stop.signal);
  }
  if (job !== "") await turn(job);
  else if (process.stdin.isTTY) await converse();
  else console.log('Say what to do: node examples/agent.ts "fix the failing test"');
  await showCosts(kernel, session, model.modelId);
  process.off("SIGINT", onInterrupt);

  async function turn(words: string): Promise<void> {
    const options = { session: session.id, mode: "foreground" } as const;
    if (!stop.signal.aborted) await follow(await kernel.tasks.start(coder, words, options), stop.signal);
  }

  async function converse(): Promise<void> {
    using lines = createInterface({ input: process.stdin, output: process.stdout });
    lines.on("SIGINT", onInterrupt);
    while (!stop.signal.aborted) {
      const words = await lines.question("\n> ", { signal: stop.signal }).catch(() => "");
      if (words.trim() === "") return;
      await turn(words);
    }
  }
}

/** Prints a task's output until it has ended; the signal kills it. */
async function follow(task: TaskHandle, signal: AbortSignal): Promise<void> {
  const kill = () => void task.kill("interrupted by the user");
  signal.addEventListener("abort", kill, { once: true });
  for await (const entry of task.output({ block: true })) showEntry(entry);
  const { state, outcome } = await task.wait();
  signal.removeEventListener("abort", kill);
  if (state === "completed") return;
  console.log(`\n${state}: ${outcome?.error ?? outcome?.reason ?? "no reason is known"}`);
  process.exitCode = signal.aborted ? 130 : 1;
}
