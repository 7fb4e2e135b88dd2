import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Counters of a process. */
interface ProcessSample {
  /** CPU of all threads since its start. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** A server on standard streams, spoken to in plain JSON lines, so that no client's own work is measured. */
interface ServerProcess extends AsyncDisposable {
  /** Opens the connection and reads the list of tools. */
  open(): Promise<void>;
  callTool(name: string, args: object): Promise<string>;
  sample(): Promise<ProcessSample>;
}

const CLIENT = { name: "bench", version: "1" };
/** Answers a message of the bench with the counters of the process. */
const HOOK =
  "process.on('message',()=>{const{user,system}=process.cpuUsage();process.send({cpuMs:(user+system)/1e3,rssBytes:process.memoryUsage.rss()})});process.channel.unref()";

/** Starts Node with a server and a client of an era: the handshake of 2025, or an envelope with each request. */
export function startServer(args: readonly string[], era: string): ServerProcess {
  const hook = ["--import", `data:text/javascript,${encodeURIComponent(HOOK)}`];
  const child = spawn(process.execPath, [...hook, ...args], { stdio: ["pipe", "pipe", "inherit", "ipc"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const isModern = era >= "2026";
  const waiting = new Map<number, (message: { result?: unknown; error?: unknown }) => void>();
  let id = 0;
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const write = (message: object) =>
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const own = ++id;
    const answered = new Promise<{ result?: unknown; error?: unknown }>((resolve) => {
      waiting.set(own, resolve);
      void ended.then(() => resolve({ error: "the server has ended" }));
    });
    const envelope = {
      "io.modelcontextprotocol/protocolVersion": era,
      "io.modelcontextprotocol/clientInfo": CLIENT,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    write({ id: own, method, params: isModern ? { ...params, _meta: envelope } : params });
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as Record<string, unknown>;
  };
  return {
    async open() {
      if (isModern) await request("server/discover", {});
      else {
        await request("initialize", { protocolVersion: era, capabilities: {}, clientInfo: CLIENT });
        write({ method: "notifications/initialized" });
      }
      await request("tools/list", {});
    },
    async callTool(name, args) {
      const { structuredContent, content } = await request("tools/call", { name, arguments: args });
      if (structuredContent === undefined) throw new Error(`${name} failed: ${JSON.stringify(content)}`);
      return (structuredContent as { text: string }).text;
    },
    sample() {
      return new Promise((resolve) => {
        child.once("message", (sample) => resolve(sample as ProcessSample));
        child.send("sample");
      });
    },
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      await ended;
    },
  };
}
