import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { createHookEndpoint } from "../../../src/adapters/hooks/index.ts";
import { importSources } from "../../../src/histories/index.ts";
import { readConversations } from "../../../src/kernel/calls/project-conversations.ts";
import { readNewestMessages } from "../../../src/kernel/calls/read-newest-messages.ts";
import { WorkHistory } from "../../../src/kernel/calls/work-history.ts";
import { estimateText, type SourceMessage } from "../../../src/kernel/faces/window.ts";
import { type Kernel, openKernel, type SessionId, textOfMessage } from "../../../src/kernel/index.ts";
import { collectActions, normalizeCommand } from "../../../src/window/compact/extractive/actions.ts";
import { detectCues, splitOuterSentences } from "../../../src/window/compact/extractive/split-sentences.ts";
import { getUserText } from "../../../src/window/compact/extractive/user-request.ts";
import { chooseHandBack } from "../../../src/window/compact/hand-back.ts";
import { listWorkSteps, type WorkStep } from "../../../src/window/compact/work-steps.ts";
import { findTouches } from "../../../src/window/effects/find-touches.ts";
import type { Bench } from "../../bench.ts";
import { atLeast, atMost, toRow } from "../../result.ts";
import type { Measurement, Suite } from "../../suite.ts";
import { findDataSet } from "../recall/data-folder.ts";
import { NEGATIVE_PROMPTS } from "./negative-prompts.ts";

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const PROJECT = "/srv/shop";
const HAND_BACK_TOKENS = 800;
const TURNS = 20;
const SUMMARY = /^This session is being continued from a previous conversation/;

/** The program as agents start it, with a process that serves the store, next to a Node that does nothing. */
const latency: Measurement = {
  name: "latency",
  async *run(bench) {
    const store = join(bench.folder, "hooks");
    const runtime = join(bench.folder, "run");
    mkdirSync(runtime, { mode: 0o700 });
    await writeStore(store);
    const tell = join(bench.folder, "tell-cpu.cjs");
    writeFileSync(tell, TELL_CPU);
    const env = { ...process.env, XDG_RUNTIME_DIR: runtime, LONGHAUL_HOOK_LIMIT_MS: "5000" };
    const gateway = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--json", "--store", store], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [chunk] = (await once(gateway.stdout, "data")) as [Buffer];
      const { url } = JSON.parse(chunk.toString("utf8").split("\n")[0] as string) as { url: string };
      const rounds = bench.isQuick ? 20 : 100;
      const [bare, warm, http]: number[][] = [[], [], []];
      const cpu: Record<"node" | "status" | "coldStatus" | "coldHook", number[]> = {
        node: [],
        status: [],
        coldStatus: [],
        coldHook: [],
      };
      // A folder that cannot be made has no socket, and no hook starts a server there.
      const alone = { ...env, XDG_RUNTIME_DIR: "/dev/null" };
      const hook = ["-r", tell, MAIN, "hook", "prompt", "--client", "claude-code", "--store", store];
      for (let round = 0; round < rounds; round++) {
        const input = toPrompt(`Which port did we choose for service ${round}?`, `c${round}`);
        const node = timeProcess(["-r", tell, "-e", "0"], "", env);
        const called = timeProcess(hook, input, env);
        const line = ["-r", tell, MAIN, "statusline", "--store", store];
        const [status, coldStatus] = [timeProcess(line, input, env), timeProcess(line, input, alone)];
        const coldHook = round < 15 ? timeProcess(hook, input.replace('"c', '"a'), alone) : undefined;
        const begunMs = performance.now();
        const response = await fetch(`${url}/hooks/claude-code`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: input.replace('"c', '"h'),
        });
        await response.text();
        // The first calls load the index.
        if (round < 5) continue;
        http?.push(performance.now() - begunMs);
        bare?.push(node.wallMs);
        warm?.push(called.wallMs);
        cpu.node.push(node.cpuMs);
        cpu.status.push(status.cpuMs);
        cpu.coldStatus.push(coldStatus.cpuMs);
        if (coldHook) cpu.coldHook.push(coldHook.cpuMs);
      }
      const [node, own] = [findP95(bare), findP95(warm)];
      const beside = { beside: "node -e 0", besideValue: node };
      yield toRow({ id: "hooks.warm.p95", value: own, unit: "ms wall", ...beside });
      yield toRow({ id: "hooks.warm.above", value: own - node, unit: "ms", goal: atMost(40, "ms") });
      const above = (values: readonly number[]) => findMedian(values) - findMedian(cpu.node);
      const unit = "ms of CPU above node -e 0";
      const goal = atMost(15, "ms");
      yield toRow({ id: "hooks.statusline.cpu", value: above(cpu.status), unit, goal });
      yield toRow({ id: "hooks.statusline.alone.cpu", value: above(cpu.coldStatus), unit, goal });
      yield toRow({ id: "hooks.cold.cpu", value: above(cpu.coldHook), unit });
      yield toRow({ id: "hooks.http.p95", value: findP95(http), unit: "ms wall", goal: atMost(25, "ms") });
    } finally {
      gateway.kill();
      await once(gateway, "exit");
    }
  },
};

/** Prompts that ask for nothing that was said, over a store of other work and over an empty one. */
const negativeControls: Measurement = {
  name: "negative-controls",
  async *run(bench) {
    const real = await openTranscripts(bench, "negative");
    await using empty = await openKernel({ path: join(bench.folder, "empty"), monitor: false });
    for (const [name, kernel] of [["empty", empty] as const, ...(real ? [["work", real] as const] : [])]) {
      const { conversations } = await readConversations(kernel, {});
      const folder = conversations.find(({ project }) => project !== undefined)?.project ?? PROJECT;
      const hooks = createHookEndpoint({
        kernel,
        store: join(bench.folder, name),
        env: {},
        onError: (error) => bench.note(String(error)),
        isCold: true,
      });
      let tokens = 0;
      for (const [index, prompt] of NEGATIVE_PROMPTS.entries()) {
        const input = toPrompt(prompt, `n${index}`, folder);
        await hooks.answer({ client: "claude-code", event: "prompt", input }, async (reply) => {
          if (reply !== "") bench.note(`answered: ${prompt}`);
          tokens += estimateText(reply);
          return true;
        });
      }
      const unit = `tokens on ${NEGATIVE_PROMPTS.length} prompts`;
      yield toRow({ id: `hooks.negative.${name}`, value: tokens, unit, goal: atMost(0, "") });
    }
    await real?.close();
  },
};

/** Facts that the turns after a real compaction use again and the client's summary lacks. */
const handBack: Measurement = {
  name: "hand-back",
  async *run(bench) {
    const kernel = await openTranscripts(bench, "compactions");
    if (!kernel) return;
    const systems = ["longhaul", "last messages", "BM25"] as const;
    const found = { longhaul: [0, 0, 0], "last messages": [0, 0, 0], BM25: [0, 0, 0] };
    const all = [0, 0, 0];
    let compactions = 0;
    let maxTokens = 0;
    const { conversations } = await readConversations(kernel, {});
    for (const { id, project } of conversations) {
      const messages = await readNewestMessages(kernel, id, 20_000);
      for (const [at, { message }] of messages.entries()) {
        const summary = textOfMessage(message);
        if (!SUMMARY.test(summary)) continue;
        compactions++;
        const before = messages.slice(0, at);
        const needed = listNeeded(before, takeTurns(messages.slice(at + 1)), summary);
        const { todos, files, commands, decisions } = chooseHandBack(before, {
          summary,
          maxTokens: HAND_BACK_TOKENS * 0.88 - 80,
          folder: project,
        });
        const text = [...todos, ...files, ...commands, ...decisions].join("\n");
        maxTokens = Math.max(maxTokens, estimateText(text) + 80);
        const paths = new Set(files.flatMap(expandFolder));
        const texts = { "last messages": takeLast(before), BM25: searchBm25(before, summary) };
        for (const [kind, items] of needed.entries())
          for (const item of items) {
            all[kind] = (all[kind] ?? 0) + 1;
            const short =
              project !== undefined && item.startsWith(`${project}/`) ? item.slice(project.length + 1) : item;
            const isOwn =
              kind === 0
                ? paths.has(short)
                : kind === 1
                  ? commands.some((line) => line.includes(`\`${item}\``))
                  : isSaid(item, decisions);
            const isIn = (one: string) => (kind === 2 ? isSaid(item, one.split("\n")) : one.includes(short));
            const hits = {
              longhaul: isOwn,
              "last messages": isIn(texts["last messages"]),
              BM25: isIn(texts.BM25),
            };
            for (const system of systems)
              if (hits[system]) found[system][kind] = (found[system][kind] ?? 0) + 1;
          }
      }
    }
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    for (const system of systems) {
      const share = (100 * sum(found[system])) / Math.max(1, sum(all));
      const parts = ["paths", "commands", "decisions"].map(
        (name, kind) => `${name} ${found[system][kind]}/${all[kind]}`,
      );
      yield toRow({
        id: `hooks.hand-back.${system.replace(" ", "-")}`,
        value: share,
        unit: `% of ${sum(all)} facts at ${compactions} compactions, ${parts.join(", ")}`,
        goal: system === "longhaul" ? atLeast(80, "%") : undefined,
      });
    }
    yield toRow({ id: "hooks.hand-back.tokens", value: maxTokens, unit: "tokens", goal: atMost(800, "") });
    await kernel.close();
  },
};

/** Errors of a conversation that came again in a later one of the same project: the step that ended them before. */
const fixes: Measurement = {
  name: "fixes",
  async *run(bench) {
    const kernel = await openTranscripts(bench, "fixes");
    if (!kernel) return;
    const { conversations } = await readConversations(kernel, {});
    const sessions = conversations.map(({ id }) => id);
    const steps = new Map<SessionId, readonly WorkStep[]>();
    for (const id of sessions) steps.set(id, listWorkSteps(await readNewestMessages(kernel, id, 6_000)));
    const pairs = listErrorPairs(steps);
    const history = new WorkHistory(kernel);
    const database = indexSteps(steps);
    let [own, plain] = [0, 0];
    for (const { error, entries } of pairs) {
      const hits = await history.fix(error, { sessions });
      if (hits.some(({ step }) => entries.has(step.entry))) own++;
      if (searchSteps(database, error).some((entry) => entries.has(entry as never))) plain++;
    }
    const share = (count: number) => count / Math.max(1, pairs.length);
    yield toRow({
      id: "hooks.fix.first-3",
      value: share(own),
      unit: `of ${pairs.length} errors`,
      beside: "BM25 over steps",
      besideValue: share(plain),
      goal: atLeast(0.5, ""),
    });
    await kernel.close();
  },
};

/** Gains and costs of hooks at the moment of action. */
export const hooks: Suite = { measurements: [latency, negativeControls, handBack, fixes] };

function toPrompt(prompt: string, session: string, cwd = PROJECT): string {
  return JSON.stringify({ session_id: session, cwd, hook_event_name: "UserPromptSubmit", prompt });
}

/** Prints the CPU time of a process, its threads included, when it ends. */
const TELL_CPU = `process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  process._rawDebug("cpu", (user + system) / 1_000);
});`;

function timeProcess(args: readonly string[], input: string, env: NodeJS.ProcessEnv) {
  const begunMs = performance.now();
  const { stderr } = spawnSync(process.execPath, args, { input, env, encoding: "utf8" });
  const wallMs = performance.now() - begunMs;
  return { wallMs, cpuMs: Math.max(...[...stderr.matchAll(/^cpu (.+)$/gm)].map(([, ms]) => Number(ms))) };
}

function findMedian(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function findP95(values: readonly number[] | undefined): number {
  const sorted = [...(values ?? [])].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
}

/** A store with 300 conversations of a project. */
async function writeStore(path: string): Promise<void> {
  await using kernel = await openKernel({ path, monitor: false });
  for (let number = 0; number < 300; number++) {
    await using session = await kernel.session(`chat-${number}`, { meta: { source: { cwd: PROJECT } } });
    await session.append({ role: "user", text: `Service ${number} listens on port ${5_000 + number}.` });
    await session.append({ role: "assistant", text: `Noted: port ${5_000 + number} for service ${number}.` });
  }
  await kernel.memory.catchUp();
}

/** The development transcripts of Claude Code in a store; undefined, with a note, if they are not here. */
async function openTranscripts(bench: Bench, name: string): Promise<Kernel | undefined> {
  const path = join(bench.folder, name);
  const folder = findDataSet(bench, "transcripts");
  if (folder === undefined) return undefined;
  const kernel = await openKernel({ path, monitor: false, embedder: null });
  await importSources(kernel, [join(folder, "claude-code")]);
  await kernel.memory.catchUp();
  return kernel;
}

/** The messages of the next turns: a turn is a person's message and everything up to the next one. */
function takeTurns(messages: readonly SourceMessage[]): readonly SourceMessage[] {
  let turns = 0;
  const end = messages.findIndex(({ message }) => {
    if (SUMMARY.test(textOfMessage(message))) return true;
    if (message.role === "user" && getUserText(message) !== "") turns++;
    return turns > TURNS;
  });
  return end < 0 ? messages : messages.slice(0, end);
}

/** Paths, commands and decisions that were used before and after, and that the summary lacks. */
function listNeeded(
  before: readonly SourceMessage[],
  after: readonly SourceMessage[],
  summary: string,
): readonly (readonly string[])[] {
  const known = summary.replace(/\s+/g, " ");
  const [old, used] = [listUses(before), listUses(after)];
  const said = after
    .filter(({ message }) => message.role === "assistant")
    .map(({ message }) => new Set(listWords(textOfMessage(message))));
  const isUsed = (sentence: string) => said.some((words) => countShare(sentence, words) >= 0.7);
  const decisions = before.flatMap(({ message }) =>
    message.role === "tool" ? [] : splitOuterSentences(textOfMessage(message)).filter(isDecision),
  );
  const inSummary = new Set(listWords(summary));
  return [
    [...used.paths].filter(
      (path) => old.paths.has(path) && !known.includes(path.slice(path.lastIndexOf("/") + 1)),
    ),
    [...used.commands].filter(
      (command) => old.commands.has(command) && !known.includes(command.replace(/\s+/g, " ")),
    ),
    [...new Set(decisions)].filter((one) => countShare(one, inSummary) < 0.6 && isUsed(one)),
  ];
}

function isDecision(sentence: string): boolean {
  return listWords(sentence).length >= 6 && detectCues(sentence).includes("decision");
}

function listUses(messages: readonly SourceMessage[]) {
  const touches = collectActions(messages).flatMap(({ call }) => findTouches(call));
  return {
    paths: new Set(touches.flatMap(({ kind, path }) => (path !== undefined && kind !== "run" ? [path] : []))),
    commands: new Set(
      touches.flatMap(({ kind, command }) => (kind === "run" && command ? [normalizeCommand(command)] : [])),
    ),
  };
}

function listWords(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [])];
}

function countShare(sentence: string, words: ReadonlySet<string>): number {
  const own = listWords(sentence);
  return own.filter((word) => words.has(word)).length / Math.max(1, own.length);
}

function isSaid(sentence: string, lines: readonly string[]): boolean {
  return lines.some((line) => countShare(sentence, new Set(listWords(line))) >= 0.8);
}

/** The paths of a line of `chooseHandBack`, which names a folder once. */
function expandFolder(line: string): readonly string[] {
  const [folder = "", ...names] = line.split(/ (.*)/s);
  return names.length === 0 ? [line] : (names[0] ?? "").split(", ").map((name) => folder + name);
}

function toText({ message }: SourceMessage): string {
  return JSON.stringify(message.parts).replaceAll("\\n", "\n").replaceAll('\\"', '"');
}

function takeLast(messages: readonly SourceMessage[]): string {
  let text = "";
  for (const one of messages.toReversed()) {
    text = `${toText(one)}\n${text}`;
    if (estimateText(text) > HAND_BACK_TOKENS) break;
  }
  return text.slice(
    -Math.floor((text.length * HAND_BACK_TOKENS) / Math.max(HAND_BACK_TOKENS, estimateText(text))),
  );
}

/** The best stretches of the log for the end of the summary, as a search would give them. */
function searchBm25(messages: readonly SourceMessage[], summary: string): string {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')");
  const insert = database.prepare("INSERT INTO texts VALUES (?)");
  for (const one of messages) {
    const text = toText(one);
    for (let at = 0; at < Math.min(text.length, 20_000); at += 600) insert.run(text.slice(at, at + 600));
  }
  const rows = database
    .prepare("SELECT text FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 8")
    .all(toQuery(summary.slice(-1_500)));
  database.close();
  const text = rows.map((row) => String(row.text)).join("\n");
  return text.slice(
    0,
    Math.floor((text.length * HAND_BACK_TOKENS) / Math.max(HAND_BACK_TOKENS, estimateText(text))),
  );
}

function toQuery(text: string): string {
  const words = listWords(text).slice(0, 60);
  return words.length === 0 ? '"none"' : words.map((word) => `"${word}"`).join(" OR ");
}

/** Lines of errors with the edits, or else commands, between them and the next run of the program without them. */
function listErrorPairs(all: ReadonlyMap<SessionId, readonly WorkStep[]>) {
  const pairs = new Map<string, Set<WorkStep["entry"]>>();
  for (const steps of all.values())
    for (const [at, { key, troubles }] of steps.entries()) {
      const program = key.split(" ").slice(0, 2).join(" ");
      if (/^(?:grep|rg|cat|sed|ls|find|git|head|tail|gh)\b/.test(program)) continue;
      for (const line of troubles.slice(0, 2)) {
        const later = steps.slice(at + 1, at + 61);
        const end = later.findIndex(
          (step) =>
            step.key.split(" ").slice(0, 2).join(" ") === program &&
            step.kind === "command" &&
            !step.troubles.includes(line),
        );
        const edits = later.slice(0, Math.max(0, end)).filter(({ kind }) => kind === "edit");
        if (end < 0 || edits.length === 0 || edits.length > 15 || line.length < 25) continue;
        const entries = pairs.get(line) ?? new Set();
        for (const { entry } of edits) entries.add(entry);
        pairs.set(line, entries);
      }
    }
  return [...pairs].map(([error, entries]) => ({ error, entries }));
}

function indexSteps(all: ReadonlyMap<SessionId, readonly WorkStep[]>): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec(
    "CREATE VIRTUAL TABLE steps USING fts5(text, entry UNINDEXED, tokenize = 'porter unicode61')",
  );
  const insert = database.prepare("INSERT INTO steps VALUES (?, ?)");
  for (const steps of all.values())
    for (const { text, paths, troubles, entry } of steps)
      insert.run([text, ...paths, ...troubles].join("\n"), entry);
  return database;
}

function searchSteps(database: DatabaseSync, error: string): readonly string[] {
  return database
    .prepare("SELECT entry FROM steps WHERE steps MATCH ? ORDER BY bm25(steps) LIMIT 3")
    .all(toQuery(error))
    .map(({ entry }) => String(entry));
}
