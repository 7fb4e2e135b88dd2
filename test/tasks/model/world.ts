import type { Store } from "../../../src/log/store/store.ts";
import type { Agent, AgentContext } from "../../../src/tasks/agent.ts";
import type { TaskStatus } from "../../../src/tasks/start-options.ts";
import { type Host, makeHost, type TestSession } from "../host.ts";
import { type FakeTime, settleDown } from "./fake-time.ts";
import { isGentle, type Operation } from "./operations.ts";
import { Power } from "./power.ts";
import { Surroundings } from "./surroundings.ts";

/** Small enough that a lease expires within a schedule. */
const LIMITS = {
  leaseMs: 3_000,
  wishMs: 1_400,
  returnMs: 1_000,
  closeMs: 500,
  stepMs: 500,
  graceMs: 2_000,
  maxResumes: 3,
};

type Command = "say" | "step" | "finish" | "throw" | "stop";

/** A simulated process. */
export interface SimulatedProcess extends Host {
  readonly power: Power;
  closing: Promise<void> | undefined;
  /** Agent calls of this process, with the number of times their resources were closed. */
  readonly shells: { closed: number }[];
  readonly waits: { readonly task: string; ended: TaskStatus | Error | undefined }[];
  readonly troubles: unknown[];
}

let worlds = 0;

/** Several processes on one store, scripted agents, and all possible faults. */
export class World {
  readonly tasks: string[] = [];
  readonly hosts: SimulatedProcess[] = [];
  readonly surroundings = new Surroundings();
  /** Deleted sessions. */
  readonly deleted = new Set<string>();
  /** Whether nothing has happened that may lose a task: no death, no sleep, no lasting fault. */
  isGentle = true;
  readonly #name = `w${++worlds}`;
  readonly #store: Store;
  readonly #time: FakeTime;
  readonly #contexts = new Map<
    string,
    { readonly context: AgentContext<TestSession>; readonly host: SimulatedProcess }
  >();
  readonly #listeners = new Map<string, Set<(command: Command) => void>>();
  #isFinishing = false;

  constructor(store: Store, time: FakeTime) {
    this.#store = store;
    this.#time = time;
    this.addHost();
  }

  addHost(): SimulatedProcess {
    const power = new Power();
    const shells: { closed: number }[] = [];
    const host = makeHost(power.connect(this.#store), {
      clock: this.#time,
      timer: this.#time.timer(() => power.isRunning),
      // Some processes have little room, and some release their tasks on close.
      limits: { ...LIMITS, maxRunning: this.hosts.length % 2 === 0 ? 2 : 100 },
      onClose: this.hosts.length % 3 === 1 ? "release" : "kill",
      ...this.surroundings.options(),
    });
    const process = { ...host, power, shells, closing: undefined, waits: [], troubles: [] };
    for (const agent of this.#agentsOf(process)) host.tasks.register(agent);
    this.hosts.push(process);
    return process;
  }

  async carryOut(operation: Operation): Promise<void> {
    this.isGentle &&= isGentle(operation);
    switch (operation.type) {
      case "start":
        this.#start(operation);
        break;
      case "child":
        this.#startChild(operation.task);
        break;
      case "say":
      case "step":
      case "finish":
      case "throw":
        this.#command(this.#task(operation.task), operation.type);
        break;
      case "detach":
      case "kill":
      case "wait":
        this.#ask(operation.type, this.#host(operation.host), this.#task(operation.task));
        break;
      case "crash":
        this.#host(operation.host)?.power.cutAfter(operation.calls, operation.isBefore);
        break;
      case "sleep":
        this.#host(operation.host)?.power.sleep();
        break;
      case "wake":
        this.#host(operation.host)?.power.wake();
        break;
      case "fault":
        this.#host(operation.host)?.power.failNext(
          operation.calls,
          operation.isPassing ? "STORE_BUSY" : "STORE_CORRUPT",
          operation.isDone,
        );
        break;
      case "trouble":
        this.surroundings.trouble(operation.what, operation.isHanging);
        break;
      case "delete":
        await this.#delete(this.#task(operation.task));
        break;
      case "oversleep":
        await this.#oversleep(this.#host(operation.host), this.#task(operation.task));
        break;
      case "close":
        this.#close(this.#host(operation.host));
        break;
      case "host":
        if (this.hosts.length < 4) this.addHost();
        break;
      case "advance":
        await this.#time.advance(operation.ms);
        break;
    }
    if (operation.gap === undefined) await settleDown();
    else for (let turn = 0; turn < operation.gap; turn++) await undefined;
  }

  /** Wakes all processes, adds one that recovers orphans, and advances the time. */
  async recover(): Promise<void> {
    for (const { power } of this.hosts) {
      power.wake();
      power.failNext(0, "STORE_BUSY", false);
    }
    this.surroundings.calm();
    await settleDown();
    await this.addHost().tasks.recover();
    await this.#time.advance(4 * LIMITS.leaseMs);
  }

  /** Tells all agents to finish, and advances the time. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    for (const task of this.tasks) this.#command(task, "finish");
    await settleDown();
    await this.#time.advance(3 * LIMITS.leaseMs);
  }

  async end(): Promise<void> {
    for (const host of this.hosts) this.#close(host);
    await this.#time.advance(LIMITS.graceMs + LIMITS.returnMs + LIMITS.closeMs);
    await settleDown();
  }

  #agentsOf(host: SimulatedProcess): readonly Agent<TestSession>[] {
    const make = (name: string, canResume: boolean, isDeaf: boolean): Agent<TestSession> => {
      const world = this;
      return {
        name,
        canResume,
        async *run(context) {
          const shell = { closed: 0 };
          host.shells.push(shell);
          context.scope.own({
            close: () => {
              shell.closed++;
              return world.surroundings.pass("close");
            },
          });
          world.#contexts.set(context.task, { context, host });
          for (;;) {
            const command = await world.#nextCommand(context, isDeaf);
            if (command === "throw") throw new Error("told to");
            if (command !== "say" && command !== "step") return host.owner;
            yield { type: "output", text: host.owner };
            if (command === "step") yield { type: "step" };
          }
        },
      };
    };
    return [make("resumable", true, false), make("fragile", false, false), make("deaf", true, true)];
  }

  #start({ host: which, agent, isForeground, isIsolated, bound }: Extract<Operation, { type: "start" }>) {
    const host = this.#host(which);
    if (!host) return;
    const id = `${this.#name}-${this.tasks.length}`;
    this.tasks.push(id);
    const name = ["resumable", "fragile", "deaf"][agent % 3] as string;
    const starting = host.tasks.start(name, null, {
      id,
      mode: isForeground ? "foreground" : "background",
      ...(isIsolated && { isolation: "box" }),
      ...(bound === "deadline" && { deadlineMs: 2_500 }),
      ...(bound === "budget" && { budget: { steps: 1 } }),
    });
    this.#note(host, starting);
  }

  #startChild(which: number): void {
    const parent = this.#contexts.get(this.#task(which) ?? "");
    if (!parent?.host.power.isRunning) return;
    const id = `${this.#name}-${this.tasks.length}`;
    this.tasks.push(id);
    this.#note(parent.host, parent.context.start("resumable", null, { id }));
  }

  #ask(what: "detach" | "kill" | "wait", host: SimulatedProcess | undefined, task: string | undefined): void {
    if (!host || task === undefined) return;
    if (what !== "wait") {
      this.#note(host, host.tasks[what](task));
      return;
    }
    const wait: SimulatedProcess["waits"][number] = { task, ended: undefined };
    host.waits.push(wait);
    host.tasks.wait(task).then(
      (status) => {
        wait.ended = status;
      },
      (error) => {
        wait.ended = error;
      },
    );
  }

  async #oversleep(host: SimulatedProcess | undefined, task: string | undefined): Promise<void> {
    if (!host?.power.isRunning) return;
    host.power.sleep();
    const other = this.hosts.find(({ power, closing }) => power.isRunning && !closing) ?? this.addHost();
    this.#note(other, other.tasks.recover());
    await this.#time.advance(LIMITS.leaseMs + 1);
    this.#note(other, other.tasks.recover());
    await settleDown();
    host.power.wake();
    this.#command(task, "say");
  }

  /** Deletes the children first, because a session with children cannot be deleted. */
  async #delete(task: string | undefined): Promise<void> {
    const record = task === undefined ? undefined : await this.#store.tasks.get(task);
    if (!record) return;
    for (const child of await this.#store.tasks.list({ parent: record.id, limit: 100 }))
      await this.#delete(child.id);
    await this.#store.sessions.delete(record.session).then(
      () => this.deleted.add(record.session),
      () => undefined,
    );
  }

  #close(host: SimulatedProcess | undefined): void {
    if (host?.power.isOn) host.closing ??= host.tasks.close();
  }

  /** Refusals caused by other operations are not failures. */
  #note(host: SimulatedProcess, work: Promise<unknown>): void {
    work.catch((error) => {
      if (host.power.hasFailed && String(error?.code).startsWith("STORE_")) return;
      if (!["CLOSED", "TASK_NOT_FOUND", "ABORTED"].includes(error?.code)) host.troubles.push(error);
    });
  }

  #command(task: string | undefined, command: Command): void {
    for (const listener of [...(this.#listeners.get(task ?? "") ?? [])]) listener(command);
  }

  /** All calls of an agent for one task receive a command, even those of a process that should no longer run it. */
  #nextCommand({ task, signal }: AgentContext<TestSession>, isDeaf: boolean): Promise<Command> {
    if (this.#isFinishing) return Promise.resolve("finish");
    return new Promise((resolve) => {
      const listeners = this.#listeners.get(task) ?? new Set();
      this.#listeners.set(task, listeners);
      const hear = (command: Command) => {
        listeners.delete(hear);
        signal.removeEventListener("abort", stop);
        resolve(command);
      };
      const stop = () => hear("stop");
      listeners.add(hear);
      if (!isDeaf) signal.addEventListener("abort", stop);
    });
  }

  #host(which: number): SimulatedProcess | undefined {
    return this.hosts[which % this.hosts.length];
  }

  #task(which: number): string | undefined {
    return this.tasks[which % Math.max(1, this.tasks.length)];
  }
}
