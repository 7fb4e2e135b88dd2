import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Agent, ApiName } from "./agents/agent.ts";
import { type StoredThread, startGateway } from "./gateway.ts";
import { WORDS, writeNotes } from "./notes.ts";
import { type Ended, runProcess } from "./run-process.ts";
import type { Scenario } from "./scenario.ts";
import { startTap, type TappedRequest } from "./tap.ts";
import { PROMPTS } from "./upstream/answer.ts";
import { type SeenRequest, startUpstream } from "./upstream/scripted-upstream.ts";

/** Route of an agent's requests: straight to the upstream, or through a gateway with a policy. */
export type Way = "direct" | "none" | "longhaul";

/** One turn of an agent. */
export interface Turn extends Ended {
  readonly answer: string;
  /** True if it succeeded and knew the word of the day. */
  readonly isRight: boolean;
}

/** One run of an agent. */
export interface Trial {
  readonly way: Way;
  readonly turns: readonly Turn[];
  /** Requests sent by the agent. */
  readonly sent: readonly TappedRequest[];
  /** Requests received by the upstream. */
  readonly seen: readonly SeenRequest[];
  /** Threads in the gateway's store afterwards. */
  readonly threads: readonly StoredThread[];
  readonly log: string;
}

/** Agent, API and scenario of a trial. */
export interface Tried {
  readonly agent: Agent;
  readonly api: ApiName;
  readonly scenario: Scenario;
  readonly installed: string;
}

const TURN_MS = 240_000;

/**
 * Runs an agent through a scenario by one route. The folder is the same for all routes, so that requests are identical;
 * it is emptied afterwards, or moved to `keepAs`.
 */
export async function tryOut(tried: Tried, way: Way, folder: string, keepAs?: string): Promise<Trial> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  const [home, project, store] = ["home", "project", "store"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, project, store, join(folder, "tmp")]) await mkdir(path, { recursive: true });
  const trial = await runBy(tried, way, { home, project, store });
  if (keepAs !== undefined) {
    await writeTraces(trial, folder);
    await mkdir(dirname(keepAs), { recursive: true });
    await rename(folder, keepAs);
  } else await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  return trial;
}

async function runBy(
  tried: Tried,
  way: Way,
  { home, project, store }: { readonly home: string; readonly project: string; readonly store: string },
): Promise<Trial> {
  await using open = new AsyncDisposableStack();
  const { scenario } = tried;
  const upstream = open.adopt(await startUpstream({ project, ...scenario }), (one) => one.close());
  const start = (port?: number) => startGateway({ upstream: upstream.url, policy: way, store, port });
  let gateway = way === "direct" ? undefined : await start();
  const tap = open.adopt(await startTap(gateway?.url ?? upstream.url), (one) => one.close());
  let log = "";
  const end = async () => {
    log += (await gateway?.close()) ?? "";
  };
  const between = async () => {
    if (!gateway || !scenario.isRestarted) return;
    await end();
    gateway = await start(Number(new URL(gateway.url).port));
  };
  try {
    const turns = await takeTurns(tried, { home, project, url: tap.url }, upstream.stalled, between);
    await end();
    const threads = (await gateway?.sessions()) ?? [];
    return { way, turns, sent: tap.requests, seen: upstream.requests, threads, log };
  } finally {
    await gateway?.close();
  }
}

async function takeTurns(
  { agent, api, scenario, installed }: Tried,
  { home, project, url }: { readonly home: string; readonly project: string; readonly url: string },
  stalled: Promise<void>,
  between: () => Promise<void>,
): Promise<readonly Turn[]> {
  const pointed = { home, project, url, api, installed };
  for (const [path, text] of Object.entries(agent.files(pointed))) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  const turns: Turn[] = [];
  for (const [index, prompt] of PROMPTS.slice(0, scenario.turns).entries()) {
    const word = WORDS[index] as string;
    await writeNotes(project, word, scenario);
    if (index > 0) await between();
    const command = agent.command(pointed, prompt, index === 0);
    if (!command) throw new Error(`it has no program for ${process.platform}-${process.arch}`);
    const ended = await runProcess(command, {
      cwd: project,
      baseEnv: environment(home),
      deadlineMs: TURN_MS,
      ...(index === 0 && { interruptOn: stalled }),
    });
    const answer = agent.answer(ended.stdout);
    turns.push({ ...ended, answer, isRight: ended.exitCode === 0 && answer.includes(word) });
  }
  return turns;
}

/** An environment without the caller's settings and keys, and without network access. */
function environment(home: string): NodeJS.ProcessEnv {
  const nowhere = "http://127.0.0.1:9";
  return {
    PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
    HOME: home,
    TMPDIR: join(dirname(home), "tmp"),
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    DO_NOT_TRACK: "1",
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: "127.0.0.1,localhost",
  };
}

async function writeTraces({ turns, sent, seen, log }: Trial, folder: string): Promise<void> {
  const write = (name: string, text: string | Buffer) => writeFile(join(folder, name), text);
  for (const [index, { stdout, stderr, exitCode }] of turns.entries()) {
    await write(`turn-${index + 1}.stdout`, stdout);
    await write(`turn-${index + 1}.stderr`, stderr);
    await write(`turn-${index + 1}.exit`, String(exitCode));
  }
  for (const [name, requests] of [
    ["sent", sent],
    ["seen", seen],
  ] as const)
    for (const [index, { body, ...head }] of requests.entries()) {
      const number = String(index + 1).padStart(3, "0");
      await write(`${name}-${number}.json`, JSON.stringify(head, undefined, 1));
      await write(`${name}-${number}.body`, body);
    }
  await write("gateway.log", log);
}
