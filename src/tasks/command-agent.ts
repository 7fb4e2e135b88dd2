import { setTimeout as sleep } from "node:timers/promises";
import { checkFields } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { createArgumentError, isLonghaulError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { Agent, AgentEvent } from "./agent.ts";
import { type Checkouts, checkCheckouts, findCheckout } from "./checkouts.ts";
import type { CommandEnd, CommandOptions } from "./process/command.ts";
import type { OutputStream } from "./process/process-output.ts";
import { startCommand } from "./process/run-command.ts";

/** Options of `commandAgent`. */
interface CommandAgentOptions
  extends Pick<
    CommandOptions,
    "graceMs" | "inheritsInput" | "lingerMs" | "maxOutputBytes" | "cleanups" | "table"
  > {
  readonly name?: string;
  /** The folder a program runs in if its input names none; `place` comes from the task's isolation. */
  readonly folder?: (place: Json | undefined) => string | undefined;
  /** For a worker that runs programs of other machines: the checkouts here that stand for their folders. */
  readonly checkouts?: Checkouts;
}

/** A program as the input of a task. */
export type CommandInputJson = {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
  readonly input?: string;
};

/** Batches output for this long per entry, so a chatty program does not flood the log. */
const GATHER_MS = 50;

/**
 * Runs any command-line program as an agent: its output is the task's output, a non-zero exit code fails the task, and
 * no process it starts outlives the task. It cannot be resumed, because a program cannot continue from the log.
 */
export function commandAgent(options: CommandAgentOptions = {}): Agent {
  checkFields("options", options, { name: "name?", folder: "function?" });
  const { name = "command", folder = readPlaceFolder, checkouts, ...rest } = options;
  if (checkouts) checkCheckouts(checkouts);
  return {
    name,
    async *run({ tag, input, place, signal, lifetime }): AsyncGenerator<AgentEvent, Json> {
      const { cwd: named, ...program } = checkInput(input);
      const cwd =
        named !== undefined && checkouts ? findCheckout(named, checkouts) : (named ?? folder(place));
      const pipe = new TextPipe();
      const starting = startCommand({
        ...rest,
        ...program,
        ...dropUndefined({ cwd }),
        tag,
        signal,
        census: lifetime.census,
        onOutput: (chunk, stream) => pipe.write(chunk, stream),
        keepBytes: 4_096,
      });
      const trouble = await starting.then(
        () => undefined,
        (error: unknown) => error,
      );
      if (isLonghaulError(trouble, "PROGRAM_NOT_STARTED"))
        yield { type: "result", value: { reason: "not-started", why: String(trouble.details.reason) } };
      const command = await starting;
      const closable = lifetime.own({
        async close() {
          pipe.close();
          command.stop();
          await command.ended;
        },
      });
      try {
        const ended = command.ended.finally(() => pipe.end());
        // Avoid an unhandled rejection when the consumer stops reading early.
        ended.catch(() => {});
        for (let pieces = await pipe.read(); pieces !== undefined; pieces = await pipe.read()) {
          for (const { stream, text } of pieces)
            yield { type: "output", text, ...(stream === "stderr" && { stream }) };
          await pipe.gather(GATHER_MS);
        }
        const end = await ended;
        const result = toResult(end);
        if (end.reason === "exited" && end.exitCode === 0) return result;
        yield { type: "result", value: result };
        throw new Error(describeFailure(program.command, end));
      } finally {
        await closable.close();
        lifetime.release(closable);
      }
    },
  };
}

function checkInput(input: Json): CommandInputJson {
  const isObject = typeof input === "object" && input !== null && "command" in input;
  if (isObject && typeof input.command === "string" && input.command) return input as CommandInputJson;
  throw createArgumentError("input", input, "an object with a command, and args, cwd, env, input if need be");
}

/** The folder of a worktree place. */
function readPlaceFolder(place: Json | undefined): string | undefined {
  const isObject = typeof place === "object" && place !== null && "folder" in place;
  return isObject && typeof place.folder === "string" ? place.folder : undefined;
}

function toResult(end: CommandEnd): Json {
  const { exitCode, signal, reason, outputBytes, remaining } = end;
  return {
    reason,
    outputBytes,
    ...dropUndefined({ exitCode, signal }),
    ...(remaining.length > 0 && { remaining: remaining.map(({ pid }) => pid) }),
  };
}

function describeFailure(command: string, end: CommandEnd): string {
  const how =
    end.reason !== "exited"
      ? `was stopped${end.reason === "output" ? " because it wrote more than it may" : ""}`
      : end.signal
        ? `was ended by ${end.signal}`
        : `failed with exit code ${end.exitCode}`;
  const last = end.stderr.trim().split("\n").at(-1);
  return `${command} ${how}${last ? `: ${last.slice(-500)}` : "."}`;
}

/** Text that a program wrote to one stream. */
interface StreamText {
  readonly stream: OutputStream;
  text: string;
}

const MAX_LENGTH = 64 * 1024;
/** Beyond this count, text joins the last piece of its stream, so two alternating streams create no flood. */
const MAX_PIECES = 16;

/** Passes text from a program to a slower reader; the program waits while much is unread. */
class TextPipe {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #pieces: StreamText[] = [];
  #length = 0;
  #isEnded = false;
  #wakeReader: () => void = () => {};
  #wakeWriter: () => void = () => {};

  /** Adds bytes; resolves when there is room for more. */
  async write(chunk: Uint8Array, stream: OutputStream): Promise<void> {
    this.#add(stream, this.#decoders[stream].decode(chunk, { stream: true }));
    this.#wakeReader();
    while (this.#isFull)
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
  }

  /** Waits for text and returns all of it in order; undefined at the end. Single reader only. */
  async read(): Promise<readonly StreamText[] | undefined> {
    while (this.#length === 0 && !this.#isEnded) await this.#waitForText();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#length = 0;
    this.#wakeWriter();
    return pieces.length === 0 ? undefined : pieces;
  }

  /** Lets text accumulate for up to `timeMs`, or until the pipe is full or ended. Single reader only. */
  async gather(timeMs: number): Promise<void> {
    const over = new AbortController();
    const isOver = sleep(timeMs, undefined, { signal: over.signal }).then(
      () => true,
      () => true,
    );
    while (!this.#isFull && !this.#isEnded)
      if (await Promise.race([isOver, this.#waitForText().then(() => false)])) break;
    over.abort();
  }

  /** Marks the end of the input. */
  end(): void {
    for (const stream of ["stdout", "stderr"] as const) this.#add(stream, this.#decoders[stream].decode());
    this.#stop();
  }

  /** Discards unread text and releases the writer. */
  close(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#stop();
  }

  get #isFull(): boolean {
    return this.#length > MAX_LENGTH && !this.#isEnded;
  }

  #add(stream: OutputStream, text: string): void {
    if (text === "") return;
    const last = this.#pieces.at(-1);
    const isMany = this.#pieces.length >= MAX_PIECES;
    const known =
      last?.stream === stream || !isMany ? last : this.#pieces.findLast((piece) => piece.stream === stream);
    if (known?.stream === stream) known.text += text;
    else this.#pieces.push({ stream, text });
    this.#length += text.length;
  }

  #waitForText(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeReader = resolve;
    });
  }

  #stop(): void {
    this.#isEnded = true;
    this.#wakeReader();
    this.#wakeWriter();
  }
}
