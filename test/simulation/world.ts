import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent as HttpAgent, request as openRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kernel, Session } from "../../src/kernel/index.ts";
import { openKernel, textOfMessage } from "../../src/kernel/index.ts";
import type { Store } from "../../src/log/store/store.ts";
import { readRange } from "../../src/log/view/page.ts";
import { type Gateway, loadConfig, openGateway } from "../../src/server/gateway/index.ts";
import type { Agent } from "../../src/tasks/agent.ts";
import type { Actor, Machine } from "./machine.ts";
import type { Network } from "./network.ts";
import type { Operation } from "./plan.ts";
import { Provider } from "./provider.ts";
import { SharedStore } from "./store.ts";

/** A gateway with its kernel, until it dies; another life follows. */
interface GatewayLife {
  readonly actor: Actor;
  readonly kernel: Kernel;
  readonly gateway: Gateway;
  readonly writers: Map<number, Session>;
}

interface ClientMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A client that keeps its conversation and repeats a request until it is answered. */
export interface Client {
  readonly topic: string;
  readonly messages: ClientMessage[];
  isBusy: boolean;
}

/** A task that was acknowledged, and its acknowledged end. */
export interface KnownTask {
  readonly id: string;
  end: string | undefined;
}

/** Gateways in one world. */
const GATEWAYS = 3;
const CLIENTS = 6;
const RETRY_MS = 3_000;
/** A request that began while the store refused calls may last so long. */
const SETTLED_MS = 150_000;

/** Clients, gateways with their supervisors, a provider and a store, in one process and in virtual time. */
export class World {
  readonly clients: readonly Client[] = Array.from({ length: CLIENTS }, (_, index) => ({
    topic: `topic-${index}`,
    messages: [],
    isBusy: false,
  }));
  /** Acknowledged messages of library sessions, by session: the seq of each text. */
  readonly appended = new Map<string, Map<number, string>>();
  readonly tasks: KnownTask[] = [];
  readonly provider: Provider;
  readonly store: SharedStore;
  readonly base: Store;
  /** Answers that clients got whole. */
  answered = 0;
  isCalm = false;
  readonly #machine: Machine;
  readonly #network: Network;
  readonly #lives: (GatewayLife | undefined)[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "longhaul-simulation-"));
  readonly #agent = new HttpAgent({ keepAlive: false });
  #generations = 0;
  #secret = "";
  /** By a wrong clock, the leases of all others seem to have expired. */
  #isClockWrong = false;
  /** Until then, words may pass without having been stored, because a client gets its answer all the same. */
  #refusedUntilMs = 0;
  /** Tokens of the answers that clients got whole. */
  tokens = 0;
  /** Pages of sessions as the handles of living processes show them. */
  readonly views: {
    readonly gateway: string;
    readonly session: string;
    readonly texts: readonly string[];
  }[] = [];
  #written = 0;
  /** Work under way that the end of the world waits for. */
  busy = 0;

  constructor(machine: Machine, network: Network, base: Store, openOwn?: () => Promise<Store>) {
    this.#machine = machine;
    this.#network = network;
    this.base = base;
    this.store = new SharedStore(machine, base, openOwn);
    this.provider = new Provider(machine, (words) =>
      this.#checkStored(words, "before it is sent to the provider"),
    );
  }

  async open(): Promise<void> {
    const founder = this.#machine.createActor("founder");
    this.#begin(founder, async () => {
      const kernel = await openKernel({
        store: await this.store.connect(founder),
        embedder: null,
        monitor: false,
      });
      const { secret } = await kernel.team.add("ada", { by: "simulation" });
      const budget = { person: "ada", amount: 1e12, unit: "tokens", period: "total" } as const;
      await kernel.team.setBudget(budget, { by: "simulation" });
      await kernel.close();
      this.#secret = secret;
    });
    const provider = this.#machine.createActor("provider");
    this.#begin(provider, () => this.provider.listen());
    await this.#machine.run(5_000, () => this.provider.url !== "" && this.#secret !== "");
    for (let number = 0; number < GATEWAYS; number++) this.#openGateway(number);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get isIdle(): boolean {
    return this.busy === 0 && this.clients.every(({ isBusy }) => !isBusy);
  }

  carryOut(operation: Operation): void {
    const chosen = "gateway" in operation ? operation.gateway % GATEWAYS : 0;
    const life = this.#lives[chosen];
    switch (operation.type) {
      case "say":
        this.say(operation.client % CLIENTS, operation.words);
        break;
      case "append":
        if (life) this.#work(life.actor, () => this.#append(life, operation.writer, operation.count));
        break;
      case "task":
        // Several at a time, so that a death finds them in different states.
        if (life)
          for (let count = 0; count < 3; count++)
            this.#work(life.actor, () => this.#startTask(life, (operation.agent + count) % 2));
        break;
      case "kill":
      case "detach": {
        const task = this.tasks[operation.task % Math.max(1, this.tasks.length)];
        if (life && task)
          this.#work(life.actor, async () => void (await life.kernel.tasks[operation.type](task.id)));
        break;
      }
      case "crash":
        if (life) life.actor.isTroubled = true;
        if (life) this.store.fuses.set(life.actor, { calls: operation.calls, isDone: operation.isDone });
        break;
      case "store":
        this.store.faults.refusals = operation.share;
        this.#refusedUntilMs = this.#machine.nowMs + operation.forMs + SETTLED_MS;
        this.#after(operation.forMs, () => (this.store.faults.refusals = 0));
        break;
      case "network":
        this.#network.faults.cuts = operation.share;
        this.#after(operation.forMs, () => (this.#network.faults.cuts = 0));
        break;
      case "provider":
        this.provider.faults = operation.share;
        this.#after(operation.forMs, () => (this.provider.faults = 0));
        break;
      case "freeze":
        if (life) life.actor.isTroubled = true;
        if (life) life.actor.frozenUntilMs = this.#machine.nowMs + operation.forMs;
        break;
      case "clock":
        this.#isClockWrong = true;
        if (life) life.actor.clockSkewMs = operation.skewMs;
        break;
    }
  }

  /** Ends all faults; from now on everything must come right. */
  calm(): void {
    this.isCalm = true;
    this.store.faults.refusals = 0;
    this.#network.faults.cuts = 0;
    this.provider.faults = 0;
    this.store.fuses.clear();
  }

  /** A client says something, and repeats its request until it has a whole answer. */
  say(number: number, words: number): void {
    const client = this.clients[number] as Client;
    if (client.isBusy) return;
    client.isBusy = true;
    const turn = client.messages.length;
    const text = `Turn ${turn} on ${client.topic}. ${`word${turn} `.repeat(words)}`.trim();
    client.messages.push({ role: "user", content: text });
    const actor = this.#machine.createActor(`client-${number}`);
    this.#begin(actor, async () => {
      for (;;) {
        const life = this.#machine.chance.pick(this.#lives);
        const answer = life ? await this.#ask(life.gateway.url, client.messages) : undefined;
        if (answer !== undefined) {
          client.messages.push({ role: "assistant", content: answer });
          client.isBusy = false;
          this.answered++;
          this.#checkStored(answer, "before its end is sent to the client");
          this.#machine.note(`${client.topic} has ${client.messages.length} messages`);
          return;
        }
        await this.#machine.pause(this.#machine.chance.next() * RETRY_MS, "the client tries again");
      }
    });
  }

  /** Checks that words are in the log of their topic now. */
  #checkStored(words: string, when: string): void {
    const topic = /topic-\d+/.exec(words)?.[0];
    if (topic === undefined || this.#machine.nowMs < this.#refusedUntilMs) return;
    const { entries, sessions } = this.base;
    this.#machine.as(undefined, async () => {
      try {
        const ids = (await sessions.list({ limit: 1_000 })).map(({ id }) => id);
        for (const id of ids) {
          const { seq } = await entries.head(id);
          const page = await readRange(entries, id, {
            from: Math.max(1, seq - 200),
            kinds: ["message"],
            limit: 300,
          });
          if (page.some((entry) => entry.kind === "message" && textOfMessage(entry.message) === words))
            return;
        }
        throw new Error(`"${words.slice(0, 80)}" is not stored ${when}.`);
      } catch (error) {
        this.#machine.fail(error);
      }
    });
  }

  /** Lets each living process read all sessions through its own handles. */
  look(): void {
    for (const life of this.#lives) {
      if (!life) continue;
      this.#work(life.actor, async () => {
        for (const { id } of await life.kernel.sessions({ limit: 1_000 })) {
          const session = await life.kernel.session(id);
          const { entries } = await session.page({ limit: 1_000 });
          const texts = entries.map((entry) => `${entry.seq} ${JSON.stringify(entry)}`);
          this.views.push({ gateway: life.actor.name, session: id, texts });
        }
      });
    }
  }

  /** The text of the answer; undefined unless it came whole. */
  #ask(url: string, messages: readonly ClientMessage[]): Promise<string | undefined> {
    const { hostname, port, host } = new URL(url);
    const body = JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 1_000, stream: true, messages });
    const headers = {
      host,
      "content-type": "application/json",
      "x-api-key": "key",
      "x-longhaul-token": this.#secret,
      "content-length": Buffer.byteLength(body),
    };
    return new Promise((resolve) => {
      const request = openRequest(
        { hostname, port, path: "/v1/messages", method: "POST", headers, agent: this.#agent },
        (response) => {
          const pieces: Buffer[] = [];
          response.on("data", (piece: Buffer) => pieces.push(piece));
          response.on("error", () => resolve(undefined));
          response.on("close", () => {
            const text = Buffer.concat(pieces).toString();
            const isWhole = response.complete && response.statusCode === 200 && text.includes("message_stop");
            if (!isWhole) return resolve(undefined);
            this.tokens += readTokens(text);
            resolve(readText(text));
          });
        },
      );
      request.on("error", () => resolve(undefined));
      const limit = setTimeout(() => request.destroy(), 60_000);
      request.on("close", () => clearTimeout(limit));
      request.end(body);
    });
  }

  async #append(life: GatewayLife, writer: number, count: number): Promise<void> {
    const id = `library-${writer}`;
    const session = life.writers.get(writer) ?? (await life.kernel.session(id));
    life.writers.set(writer, session);
    const known = this.appended.get(id) ?? new Map<number, string>();
    this.appended.set(id, known);
    await Promise.all(
      Array.from({ length: count }, async () => {
        const text = `said ${++this.#written} in ${id}`;
        if (this.#machine.chance.chance(0.7)) {
          const { seq } = await session.append({ role: "user", text });
          known.set(seq, text);
          return;
        }
        const draft = session.draft({ role: "assistant", text });
        await draft.flush();
        await this.#machine.pause(this.#machine.chance.next() * 3_000, "the writer thinks");
        const { seq } = await draft.finish();
        known.set(seq, text);
      }),
    );
  }

  async #startTask({ kernel, actor }: GatewayLife, agent: number): Promise<void> {
    const id = `task-${++this.#written}`;
    const task = await kernel.tasks.start(agent === 0 ? "walker" : "fragile", null, {
      id,
      mode: "background",
    });
    const known: KnownTask = { id, end: undefined };
    this.tasks.push(known);
    const { state, outcome } = await task.wait();
    known.end = state;
    if (outcome?.reason === "lost" && !actor.isTroubled && !this.#isClockWrong)
      throw new Error(`${id} counts as lost, but ${actor.name} was well all the time.`);
  }

  #openGateway(number: number): void {
    const actor = this.#machine.createActor(`gateway-${number}.${++this.#generations}`);
    actor.onDeath.add(() => {
      this.#lives[number] = undefined;
      this.#after(1_000 + this.#machine.chance.below(20_000), () => this.#openGateway(number));
    });
    this.#begin(actor, async () => {
      // A process whose start fails is started again.
      try {
        this.#lives[number] = await this.#start(actor);
      } catch (error) {
        this.#machine.note(`${actor.name} does not start: ${error}`);
        this.#machine.kill(actor);
      }
    });
  }

  async #start(actor: Actor): Promise<GatewayLife> {
    const file = join(this.#folder, "longhaul.json");
    const upstreams = [{ name: "provider", baseUrl: this.provider.url, apis: ["anthropic"] }];
    const breaker = { requests: 100_000 };
    writeFileSync(
      file,
      JSON.stringify({ port: 0, upstreams, recall: "edit", redact: false, breaker, log: { level: "error" } }),
      { mode: 0o600 },
    );
    const { config } = loadConfig({ path: file, cwd: this.#folder, env: {}, flags: {} });
    const kernel = await openKernel({
      store: await this.store.connect(actor),
      embedder: null,
      monitor: false,
      // Requests of other processes are looked for as seldom as leases are renewed.
      tasks: { collectsStale: false, handlesSignals: false, limits: { wishMs: 10_000 } },
    });
    for (const agent of [createWalker("walker", true), createWalker("fragile", false)])
      kernel.tasks.register(agent);
    await kernel.tasks.recover();
    const log = (line: string) => this.#machine.note(line.replace(/"at":"[^"]*"/, ""));
    const gateway = await openGateway({ kernel, config: () => config, log, env: {} });
    return { actor, kernel, gateway, writers: new Map() };
  }

  /** Starts work of an actor; it may be refused by its store, but must not fail otherwise. */
  #work(actor: Actor, work: () => Promise<void>): void {
    this.busy++;
    let isOver = false;
    const end = () => {
      if (!isOver) this.busy--;
      isOver = true;
    };
    actor.onDeath.add(end);
    this.#begin(actor, async () => {
      try {
        await work();
      } catch (error) {
        const { code } = error as { readonly code?: string };
        if (code !== "STORE_BUSY" && code !== "TASK_NOT_FOUND") throw error;
      } finally {
        end();
      }
    });
  }

  #begin(actor: Actor, work: () => Promise<void>): void {
    this.#machine.as(actor, () =>
      this.#machine.schedule(
        0,
        "begins",
        "begins",
        () => void work().catch((error) => this.#machine.fail(error)),
      ),
    );
  }

  #after(ms: number, work: () => void): void {
    this.#machine.as(undefined, () =>
      this.#machine.schedule(ms, `after ${this.#machine.nowMs} ${ms}`, "later", work),
    );
  }
}

const readData = (events: string) =>
  [...events.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json));

function readText(events: string): string {
  return readData(events)
    .map(({ delta }) => delta?.text ?? "")
    .join("");
}

/** Input and output tokens as the provider counted them. */
function readTokens(events: string): number {
  return readData(events).reduce(
    (sum, { message, usage }) =>
      sum + (message?.usage.input_tokens ?? 0) + (message ? 0 : (usage?.output_tokens ?? 0)),
    0,
  );
}

/** An agent with three slow steps and a checkpoint after each. */
function createWalker(name: string, canResume: boolean): Agent<Session> {
  return {
    name,
    canResume,
    async *run({ checkpoint }) {
      for (let step = Number(checkpoint ?? 0) + 1; step <= 3; step++) {
        await new Promise((resolve) => setTimeout(resolve, 500 * step));
        yield { type: "checkpoint", value: step };
      }
      return "there";
    },
  };
}
