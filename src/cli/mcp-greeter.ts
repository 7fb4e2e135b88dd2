import { readFileSync } from "node:fs";
import { PassThrough, type Readable, Writable } from "node:stream";

/** Replies that the build recorded from the server itself: by set of tools, version of the protocol and method. */
type Greetings = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, object>>>>>>;

/** A message of the protocol, as far as the greeter reads it. */
interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: unknown; readonly cursor?: unknown };
}

/** How long the greeter waits for the first message, and for the next one after a reply, before the server is loaded. */
const FIRST_WAIT_MS = 100;
const NEXT_WAIT_MS = 250;

/** The streams of this process, behind the greeter. */
export interface GreetedStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Resolves when nothing is left that can be answered without the server. */
  readonly isDone: Promise<void>;
  /** Lets the process end. */
  close(): void;
}

/**
 * Answers the first requests of an MCP client on standard input from recorded replies, because loading the server and
 * opening the store take longer than an agent waits for its tools. All other lines, and the client's greeting, go to the
 * server; the server's own reply to the greeting is left out. Undefined if there are no recorded replies.
 */
export function greetClient(args: readonly string[], file: URL): GreetedStreams | undefined {
  if (process.stdin.isTTY || args.some((arg) => arg === "--skill" || arg === "--help" || arg === "-h"))
    return undefined;
  const tools = args.join(" ").match(/--tools[= ](\S+)/)?.[1] ?? "default";
  const versions = readGreetings(file)?.[tools];
  if (!versions) return undefined;
  const stdin = new PassThrough();
  const { promise: isDone, resolve: finish } = Promise.withResolvers<void>();
  let timer = setTimeout(finish, FIRST_WAIT_MS);
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(finish, NEXT_WAIT_MS);
  };
  let replies: Readonly<Record<string, object>> | undefined;
  /** The greeting that the server still has to take in without a reply. */
  let greeted: string | number | undefined;

  const answer = (line: string): boolean => {
    const { id, method = "", params } = parseMessage(line);
    if (id === undefined) return false;
    if (method === "initialize" && replies === undefined && typeof params?.protocolVersion === "string") {
      replies = versions[params.protocolVersion] ?? versions.other;
      greeted = id;
    }
    const result = params?.cursor === undefined ? replies?.[method] : undefined;
    if (!result) {
      finish();
      return false;
    }
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
    wait();
    return method !== "initialize";
  };
  let rest = "";
  process.stdin
    .setEncoding("utf8")
    .on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (answer(line) || stdin.write(`${line}\n`)) continue;
        process.stdin.pause();
        stdin.once("drain", () => process.stdin.resume());
      }
    })
    .once("end", () => {
      finish();
      stdin.end(rest);
    });

  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      if (greeted !== undefined && parseMessage(chunk.toString("utf8")).id === greeted) {
        greeted = undefined;
        // From now on the server answers everything itself.
        replies = {};
        return done();
      }
      process.stdout.write(chunk, done);
    },
  });
  const close = () => {
    clearTimeout(timer);
    process.stdin.destroy();
  };
  return { stdin, stdout, isDone, close };
}

function readGreetings(file: URL): Greetings | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function parseMessage(line: string): Message {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
